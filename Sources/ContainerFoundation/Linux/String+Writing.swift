// Writing text in place of a file whose mode is to stay.

public import Foundation
import Platform
import SandboxModel

extension StringProtocol {
    /// Writes the text to a file.
    ///
    /// On a mount an atomic write keeps the mode of the file that it replaces, as on Apple's systems.
    /// - Throws: a `CocoaError`: `fileWriteInapplicableStringEncoding` where the encoding lacks a character. What was there
    ///   stays.
    public func write(to url: URL, atomically: Bool, encoding: String.Encoding) throws {
        guard atomically, url.isFileURL, let item = MountedItem(url.path),
            let place = try? FilePlace(item.path), let replaced = try? place.status(), replaced.kind == .file
        else { return try self.FoundationEssentials::write(to: url, atomically: atomically, encoding: encoding) }
        let passing = try onItem(item.path) { () throws(SystemError) in try FilePlace(.passing, beside: place) }
        // It is there before Foundation writes to it, so that nobody reads it who might not read the old one.
        try onItem(item.path) { () throws(SystemError) in
            _ = try passing.makeFile(protection: nil, mode: FilePlace.ownersOnly)
        }
        do {
            try self.FoundationEssentials::write(toFile: passing.path, atomically: false, encoding: encoding)
            try onItem(item.path) { () throws(SystemError) in
                try passing.directory.changeMode(of: passing.name, to: replaced.permissions)
                try passing.directory.rename(passing.name, to: place.name, in: place.directory)
            }
        } catch {
            try? passing.directory.removeFile(passing.name)
            throw error
        }
    }

    /// Writes the text to a file: ``write(to:atomically:encoding:)``.
    public func write(toFile path: some StringProtocol, atomically: Bool, encoding: String.Encoding) throws {
        try write(to: URL(fileURLWithPath: String(path)), atomically: atomically, encoding: encoding)
    }
}
