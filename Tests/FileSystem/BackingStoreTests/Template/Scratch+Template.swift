// Templates in a scratch directory, those of a device and forged ones.

import DeviceTemplate
import Glibc
import Platform
import SandboxModel
import TarFormat
import TestSupport

@testable import BackingStore

extension Scratch {
    func create(_ name: String) throws -> SharedDescriptor {
        SharedDescriptor(try Descriptor.open(path: self[name], flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600))
    }

    /// Exports a device into a file of this name.
    @discardableResult
    func export(_ device: DeviceDirectory, to name: String) throws -> TemplateFile {
        let lock = try device.lock()
        defer { lock.release() }
        return try device.export(to: try create(name), named: name, holding: lock)
    }

    /// Makes a device of a file.
    func importTemplate(_ name: String, to device: String, expecting digest: [UInt8]? = nil) throws {
        let file = SharedDescriptor(try Descriptor.open(path: self[name], flags: O_RDONLY))
        let reader = try TemplateReader(file, from: .template(name))
        try DeviceDirectory.importTemplate(reader, expecting: digest, to: self[device])
    }

    /// Writes a template whose seal is right: records of a device, then these entries.
    /// - Parameter records: without those named.
    func forge(
        _ name: String, of device: DeviceDirectory, without missing: Set<FileName> = [],
        _ body: (TemplateWriter) throws -> Void
    ) throws {
        let writer = try TemplateWriter(try create(name), owner: geteuid(), group: getegid())
        for record in DeviceDirectory.templateRecords where !missing.contains(record) {
            guard let bytes = try RecordFile(name: record).read(in: device.root) else { continue }
            try writer.add(TarEntry(path: Array(record.bytes), length: 0), content: bytes)
        }
        try body(writer)
        _ = try writer.finish()
    }
}

extension TarEntry {
    static func directory(_ path: String) -> TarEntry {
        var entry = TarEntry(path: Array(path.utf8), kind: .directory)
        entry.permissions = 0o700
        return entry
    }

    static func made(_ path: String, _ kind: Kind) -> TarEntry { TarEntry(path: Array(path.utf8), kind: kind) }
}
