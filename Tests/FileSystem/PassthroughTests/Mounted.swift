// A mounted passthrough for one test, removed at its end. It fails without /dev/fuse.

import FuseBridge
import Glibc
import Platform
import SandboxModel
import TestSupport

@testable import Passthrough

struct Mounted {
    let fileSystem: PassthroughFileSystem
    private let scratch: Scratch

    /// The directory that is shown.
    var source: String { scratch["source"] }
    /// The mount.
    var path: String { scratch["mount"] }

    /// - Parameter prepare: fills the source before it is mounted: what changes in it later is not seen for a day.
    static func run(
        prepare: (_ source: String) throws -> Void = { _ in }, body: (Mounted) throws -> Void
    ) throws {
        let scratch = Scratch()
        for name in ["source", "mount"] { try HostPath.makeDirectory(scratch[name], mode: 0o755) }
        try prepare(scratch["source"])
        let fileSystem = try PassthroughFileSystem(source: scratch["source"])
        let session = try Session.mount(
            fileSystem, at: scratch["mount"],
            options: Session.Options(source: "test", subtype: "passthrough", otherUsers: false))
        defer {
            try? Session.unmount(scratch["mount"], lazily: true)
            session.waitUntilEnded()
        }
        try body(Mounted(fileSystem: fileSystem, scratch: scratch))
    }

    subscript(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String) throws {
        try Descriptor.open(path: self[name], flags: O_CREAT | O_WRONLY | O_TRUNC, mode: 0o644).append(Array(text.utf8))
    }

    func text(_ name: String) throws -> String {
        String(decoding: try HostPath.contents(self[name]), as: UTF8.self)
    }

    /// The content on the host, past the mount.
    func sourceText(_ name: String) throws -> String {
        String(decoding: try HostPath.contents("\(source)/\(name)"), as: UTF8.self)
    }

    func names(_ directory: String = "") throws -> [String] {
        let reader = DirectoryReader(
            try Descriptor.open(path: self[directory], flags: O_RDONLY | O_DIRECTORY), bufferSize: 4096)
        var names: [String] = []
        while let entry = try reader.next() { names.append(entry.name.text) }
        return names.sorted()
    }
}

/// The errno of a call that returned -1, otherwise 0.
func code(_ result: some BinaryInteger) -> Int32 { result == -1 ? errno : 0 }
