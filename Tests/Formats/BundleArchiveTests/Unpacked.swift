// What came of unpacking an archive.

import BundleArchive
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

/// A directory with an archive and a place to unpack it into, beside things that must stay as they are.
final class Room: Sendable {
    private let scratch = Scratch()
    var archive: String { scratch["app.ipa"] }
    var target: String { scratch["target"] }

    init() throws {
        for name in ["target", "beside"] {
            try FileManager.default.createDirectory(atPath: scratch[name], withIntermediateDirectories: false)
        }
        try Data("as it was".utf8).write(to: URL(filePath: scratch["beside/file"]))
    }

    subscript(_ name: String) -> String { "\(target)/\(name)" }

    func unpack(
        _ bytes: [UInt8], limits: AppArchive.Limits = .standard, progress: (Int64) -> Bool = { _ in true }
    ) throws -> FileName? {
        try Data(bytes).write(to: URL(filePath: archive))
        return try unpack(path: archive, limits: limits, progress: progress)
    }

    func unpack(
        path: String, limits: AppArchive.Limits = .standard, progress: (Int64) -> Bool = { _ in true }
    ) throws -> FileName? {
        let directory = try Descriptor.open(path: target, flags: O_RDONLY | O_DIRECTORY)
        return try AppArchive.unpack(path, into: directory, limits: limits, progress: progress)
    }

    /// Whether everything outside the target is as it was.
    var isUntouchedOutside: Bool {
        scratch.names.filter { $0 != "app.ipa" } == ["beside", "target"]
            && (try? FileManager.default.contentsOfDirectory(atPath: scratch["beside"])) == ["file"]
            && content(scratch["beside/file"]) == "as it was"
    }

    private func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// What lies in the target, one line each: mode, path, and content or target.
    func listing(_ path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[path]).sorted().flatMap { name in
            let place = path.isEmpty ? name : "\(path)/\(name)"
            let status = try Descriptor.openNode(path: self[place]).status()
            let mode = String(status.permissions, radix: 8)
            switch status.kind {
            case .directory: return ["\(mode) \(place)/"] + (try listing(place))
            case .symbolicLink:
                return ["\(place) -> \(try FileManager.default.destinationOfSymbolicLink(atPath: self[place]))"]
            default: return ["\(mode) \(place): \(content(self[place]) ?? "?")"]
            }
        }
    }

    func clear() throws {
        try shell("chmod -R u+rwX '\(target)'; rm -rf '\(target)'; mkdir '\(target)'")
    }
}

/// The reason for which an archive is refused; nil when it is not. Nothing outside the target may change.
func refusal(
    of bytes: [UInt8], limits: AppArchive.Limits = .standard, sourceLocation: SourceLocation = #_sourceLocation
) throws -> String? {
    let room = try Room()
    defer { #expect(room.isUntouchedOutside, sourceLocation: sourceLocation) }
    do {
        _ = try room.unpack(bytes, limits: limits)
        return nil
    } catch ArchiveFault.refused(let reason) {
        #expect(!reason.contains { $0.isNewline }, sourceLocation: sourceLocation)
        return reason
    }
}
