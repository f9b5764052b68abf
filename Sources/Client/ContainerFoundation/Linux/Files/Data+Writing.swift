// Writing data with a protection class, and atomic writes that keep the mode of the replaced file.

public import Foundation
import Glibc
import Platform
import SandboxModel

extension Data {
    /// Writes the data to a file.
    ///
    /// On a mount the file gets the class of `options` before its first byte is written, and an atomic write
    /// keeps the mode of the file that it replaces, as on Apple's systems.
    /// - Throws: a `CocoaError`: `fileWriteNoPermission` if the device is locked for the class. An existing file is
    ///   unchanged.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        let isAtomic = options.contains(.atomic)
        guard url.isFileURL, isAtomic || options.protection != nil,
            // Foundation aborts on this combination.
            !(isAtomic && options.contains(.withoutOverwriting)),
            let item = MountedItem(url.path)
        else { return try self.FoundationEssentials::write(to: url, options: options) }
        try onItem(item.path) { () throws(SystemError) in
            if isAtomic {
                try replaceFile(at: item.path, protection: options.protection)
            } else if let protection = options.protection {
                let mayReplace = !options.contains(.withoutOverwriting)
                try writeFile(at: item.path, protection: protection, mayReplace: mayReplace)
            }
        }
    }

    private func writeFile(at path: String, protection: ProtectionClass, mayReplace: Bool) throws(SystemError) {
        // Follows a symbolic link, as open(2) does.
        let place = try FilePlace(mayReplace ? (try? HostPath.resolved(path)) ?? path : path)
        let file: Descriptor
        do throws(SystemError) {
            file = try place.directory.makeFile(place.name, protection: protection)
        } catch {
            guard error == .exists, mayReplace else { throw error }
            file = try place.directory.open(place.name, flags: O_WRONLY)
            // Before truncation: a refusal leaves the content as it is.
            try AttributeHolder(file: file).setProtection(protection)
            try file.truncate(to: 0)
        }
        try fill(file)
    }

    /// - Parameter encoding: the encoding of the text, nil for other data.
    func replaceFile(
        at path: String, protection: ProtectionClass? = nil, encoding: String.Encoding? = nil
    ) throws(SystemError) {
        let place = try FilePlace(path)
        let replaced = try? place.status()
        // The new file is never readable for users who could not read the old one.
        let mode = replaced?.kind == .file ? replaced?.permissions : nil
        let passing = FileName.passing
        let file = try place.directory.makeFile(
            passing, protection: protection, mode: mode == nil ? 0o666 : Descriptor.ownersOnly)
        do throws(SystemError) {
            try fill(file)
            // Errors are ignored, as in Foundation: the text is complete without the attribute.
            if let value = encoding?.attributeValue {
                try? AttributeHolder(file: file).set(String.Encoding.attributeName, to: value)
            }
            if let mode { try file.changeMode(mode) }
            try place.directory.rename(passing, to: place.name, in: place.directory)
        } catch {
            try? place.directory.removeFile(passing)
            throw error
        }
    }

    private func fill(_ file: borrowing Descriptor) throws(SystemError) {
        guard !isEmpty else { return }
        try file.append(bytes)
        try file.synchronize()
    }
}

extension NSData {
    /// Writes the data to a file, as `Data.write(to:options:)` does.
    public func write(to url: URL, options: NSData.WritingOptions = []) throws {
        try Data(referencing: self).write(to: url, options: options)
    }

    /// Writes the data to a file, as `Data.write(to:options:)` does.
    /// - Returns: whether it could be written.
    public func write(to url: URL, atomically: Bool) -> Bool {
        (try? write(to: url, options: atomically ? .atomic : [])) != nil
    }

    /// Writes the data to a file, as `Data.write(to:options:)` does.
    /// - Returns: whether it could be written.
    public func write(toFile path: String, atomically: Bool) -> Bool {
        write(to: URL(fileURLWithPath: path), atomically: atomically)
    }

    /// Writes the data to a file, as `Data.write(to:options:)` does.
    public func write(toFile path: String, options: NSData.WritingOptions = []) throws {
        try Data(referencing: self).write(to: URL(fileURLWithPath: path), options: options)
    }
}
