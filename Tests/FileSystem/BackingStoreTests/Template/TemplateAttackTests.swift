// Templates that were cut, altered or forged.

import DeviceTemplate
import Glibc
import Platform
import SandboxModel
import TarFormat
import TestSupport
import Testing

@testable import BackingStore

@Suite struct TemplateAttackTests {
    let scratch = Scratch()

    /// Expects that a template is refused, and leaves nothing.
    private func expectRefused(
        _ name: String, _ kind: Complaint.Kind = .invalidTemplate, _ words: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let complaint = complaint { try scratch.importTemplate(name, to: "copy") }
        #expect(complaint?.kind == kind, "\(complaint?.message ?? "it was taken")", sourceLocation: sourceLocation)
        if let words {
            let isSaid = complaint?.message.contains(words) == true
            #expect(isSaid, "\(complaint?.message ?? "")", sourceLocation: sourceLocation)
        }
        #expect(scratch.names.filter { $0.contains("copy") } == [], sourceLocation: sourceLocation)
    }

    @Test func `a template that is cut anywhere is refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let size = try scratch.export(device, to: "template").size
        for length in [0, 1, 4, 39, 40, 100, size / 2, size - 41, size - 40, size - 33, size - 1] {
            try shell("head -c \(length) \(scratch["template"]) > \(scratch["cut"])")
            expectRefused("cut")
        }
    }

    @Test func `a template with a changed byte is refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        let bytes = try HostPath.contents(scratch["template"])
        let places = Array(stride(from: 0, to: bytes.count, by: bytes.count / 60))
        for position in places + [bytes.count - 1, bytes.count - 40] {
            var changed = bytes
            changed[position] ^= 0x10
            try scratch.create("changed").descriptor.append(changed)
            let complaint = complaint { try scratch.importTemplate("changed", to: "copy") }
            #expect([.invalidTemplate, .newerFormat].contains(complaint?.kind), "byte \(position)")
            #expect(scratch.names.contains("copy") == false)
        }
    }

    @Test func `a template that goes on behind its end is refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        try shell("cd \(scratch.path) && { cat template; echo more; } > longer && cat template template > twice")
        expectRefused("longer")
        expectRefused("twice")
    }

    @Test func `another file is no template`() throws {
        try shell(
            """
            cd \(scratch.path) && echo text > text && head -c 100000 /dev/urandom > random && : > empty
            tar -cf plain text && tar --zstd -cf other text && zstd -q < text > text.zst
            """)
        for name in ["text", "random", "empty", "plain", "other", "text.zst"] { expectRefused(name) }
    }

    @Test func `a template of another digest than asked for is refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        let complaint = complaint {
            try scratch.importTemplate("template", to: "copy", expecting: [UInt8](repeating: 7, count: 32))
        }
        #expect(complaint?.kind == .invalidTemplate)
        #expect(complaint?.message.contains("another digest") == true)
        #expect(scratch.names == ["device", "template"])
    }

    @Test func `a template of a newer version is refused as such`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.export(device, to: "template")
        try shell(
            """
            cd \(scratch.path) && mkdir new && tar --zstd -xf template -C new && echo 2 > new/Template
            tar -C new --zstd -cf newer Template Apps.json Device.json Keybag UID.key Containers
            """)
        expectRefused("newer", .newerFormat)
    }

    // MARK: Forged entries, under a seal that is right

    private static let outside: [String] = [
        "/etc/x", "../x", "Containers/../../x", "Containers//x", "Containers/./x", "Staging/x", "UID.key", "lock", "x",
        "Containers/x/", "Containersx",
    ]

    @Test(arguments: outside) func `no entry is made outside the containers`(path: String) throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("forged", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made(path, .symbolicLink(Array("/etc".utf8))))
        }
        // libarchive takes the slash at the end of a link's name away, which makes it a name like any other.
        if path == "Containers/x/" {
            try? scratch.importTemplate("forged", to: "copy")
        } else {
            expectRefused("forged")
        }
        #expect((try? HostPath.status("/etc/x", following: false)) == nil)
    }

    @Test func `no symbolic link is followed`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try shell("mkdir \(scratch["elsewhere"])")
        let target = Array(scratch["elsewhere"].utf8)
        try scratch.forge("below", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made("Containers/link", .symbolicLink(target)))
            try writer.add(.made("Containers/link/x", .fifo))
        }
        try scratch.forge("replaced", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made("Containers/link", .symbolicLink(target)))
            try writer.add(.directory("Containers/link"))
            try writer.add(.made("Containers/link/x", .fifo))
        }
        try scratch.forge("top", of: device) { writer in
            try writer.add(.made("Containers", .symbolicLink(target)))
            try writer.add(.made("Containers/x", .fifo))
        }
        try scratch.forge("link", of: device) { writer in
            try writer.add(.made("Containers", .symbolicLink(target)))
        }
        try scratch.forge("data", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made("Containers/Data", .symbolicLink(target)))
        }
        for name in ["below", "replaced", "top", "link", "data"] { expectRefused(name) }
        #expect(try shell("ls \(scratch["elsewhere"])") == "")
    }

    @Test(arguments: ["UID.key", "Containers/none", "../device/UID.key", "/etc/passwd", "Containers"])
    func `no further name leads out of the containers`(target: String) throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("forged", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made("Containers/x", .hardLink(Array(target.utf8))))
        }
        expectRefused("forged")
    }

    @Test func `no entry comes twice, or out of order`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("twice", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.made("Containers/x", .fifo))
            try writer.add(.made("Containers/x", .fifo))
        }
        try scratch.forge("again", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(.directory("Containers/a"))
            try writer.add(.directory("Containers/b"))
            try writer.add(.made("Containers/a/x", .fifo))
        }
        try scratch.forge("record", of: device) { writer in
            try writer.add(.directory("Containers"))
            try writer.add(TarEntry(path: Array("Apps.json".utf8), length: 0), content: [1])
        }
        expectRefused("twice", .invalidTemplate, "twice")
        expectRefused("again", .invalidTemplate, "out of order")
        expectRefused("record")
    }

    @Test func `attributes are those of apps' files`() throws {
        let (device, _) = try scratch.makeFullDevice()
        for name in ["security.capability", "trusted.x", "system.posix_acl_access", "appcontainer.kind"] {
            try scratch.forge("forged", of: device) { writer in
                try writer.add(.directory("Containers"))
                var entry = TarEntry(path: Array("Containers/x".utf8), length: 0)
                entry.attributes = [TarEntry.Attribute(name: Array(name.utf8), value: [1])]
                try writer.add(entry, content: [])
            }
            expectRefused("forged", .invalidTemplate, "attribute")
        }
    }

    @Test func `no file gets a set-ID bit`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("forged", of: device) { writer in
            try writer.add(.directory("Containers"))
            var entry = TarEntry(path: Array("Containers/x".utf8), length: 0)
            entry.permissions = 0o6755
            try writer.add(entry, content: [])
        }
        try scratch.importTemplate("forged", to: "copy")
        #expect(try shell("stat -c %a \(scratch["copy/Containers/x"])") == "755\n")
    }

    @Test(arguments: ["Apps.json", "Device.json", "Keybag", "UID.key"] as [FileName])
    func `a template without a record of every device is refused`(name: FileName) throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("forged", of: device, without: [name]) { try $0.add(.directory("Containers")) }
        expectRefused("forged", .invalidTemplate, "records")
    }

    @Test func `records of two devices are refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        let other = try scratch.makeDevice("other")
        try shell("cp \(other.path)/Apps.json \(device.path)/Apps.json")
        try scratch.forge("forged", of: device) { try $0.add(.directory("Containers")) }
        expectRefused("forged", .invalidTemplate, "records")
    }

    @Test func `a template without containers is refused`() throws {
        let (device, _) = try scratch.makeFullDevice()
        try scratch.forge("forged", of: device) { _ in }
        expectRefused("forged")
    }
}
