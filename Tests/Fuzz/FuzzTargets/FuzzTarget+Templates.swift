// Templates: the tar in one, under a seal that is right, and the documents of an OCI layout.

import Glibc
import Platform
import SandboxModel
import TarFormat

@testable import BackingStore
@testable import DeviceTemplate

extension FuzzTarget {
    static let templates = [
        FuzzTarget("template") { input in
            let directory = try InputDirectory()
            let template = try seal(input, in: directory)
            let reader = try TemplateReader(template, from: .template("template"))
            try directory.descriptor.makePrivateDirectory("device")
            let device = try directory.descriptor.openDirectory("device").reopen(flags: O_RDONLY | O_DIRECTORY)
            defer { requireNothingElse(in: directory, device) }
            guard let first = try DeviceDirectory.importRecords(reader, to: device) else { return }
            let owners = FileOwners(importedFrom: reader.owner, group: reader.group)
            var tree = TreeImport(reader, to: try device.duplicate(), owners: owners)
            guard try tree.run(from: first, progress: { _ in true }) else { return }
            _ = try reader.finish()
        },
        FuzzTarget("oci-document") { input in
            let directory = try InputDirectory()
            try directory.add("index.json", input)
            _ = try? OCILayoutInput(directory.descriptor, from: .template("layout"))
            _ = OCIDocument.decode(OCIManifest.self, from: input)?.layers.map(\.bytes)
        },
    ]

    /// A template's file around a tar.
    private static func seal(_ tar: [UInt8], in directory: borrowing InputDirectory) throws -> SharedDescriptor {
        let path = try directory.add("template", [])
        let sealed = SealedOutput(SharedDescriptor(try Descriptor.open(path: path, flags: O_WRONLY)))
        let compressed = try ZstandardOutput(sealed)
        try unsafe compressed.append(tar.span.bytes, isContent: true)
        try compressed.finish()
        _ = try sealed.finish()
        return SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY))
    }

    /// No entry lies beside the device, and none in it but records and the tree of containers.
    private static func requireNothingElse(in directory: borrowing InputDirectory, _ device: borrowing Descriptor) {
        let beside = try? directory.descriptor.names { !["template", "device"].contains($0) }
        require(beside == [], "an import has written beside the device")
        let records = DeviceDirectory.templateRecords
        let others = try? device.names { !records.contains($0) && $0 != DeviceDirectory.Name.containers }
        require(others == [], "an import has written beside the containers")
    }
}
