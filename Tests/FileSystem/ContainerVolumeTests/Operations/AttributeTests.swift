// Extended attributes.

import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("Extended attributes of a volume")
struct AttributeTests {
    // XATTR_CREATE and XATTR_REPLACE, which Glibc's module does not have.
    private let create: Int32 = 1
    private let replace: Int32 = 2

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Apple's name and the host's are one attribute, listed once")
    func appleNames() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        let apple = bytes("com.apple.TextEncoding")
        let host = bytes("user.com.apple.TextEncoding")
        try volume.setAttribute(apple, to: [1, 2], flags: 0, of: file)
        #expect(try volume.attribute(host, of: file) == [1, 2])
        try volume.setAttribute(host, to: [3], flags: replace, of: file)
        #expect(try volume.attribute(apple, of: file) == [3])
        #expect(throws: Fault.errno(EEXIST)) {
            try volume.setAttribute(apple, to: [4], flags: create, of: file)
        }
        #expect(try volume.attributeNames(of: file) == [host])
        try volume.removeAttribute(apple, of: file)
        #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(host, of: file) }
        #expect(try volume.attributeNames(of: file) == [])
    }

    @Test("Computed attributes and other namespaces are not to be set")
    func namespaces() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        let computed = bytes("user.appcontainer.class")
        #expect(throws: Fault.refused(.computedAttribute)) {
            try volume.setAttribute(computed, to: [1], flags: 0, of: file)
        }
        #expect(throws: Fault.refused(.computedAttribute)) { try volume.removeAttribute(computed, of: file) }
        for name in ["system.posix_acl_access", "trusted.a", "security.selinux", "user.", "com.apple.", "other"] {
            #expect(throws: Fault.errno(EOPNOTSUPP), "\(name)") {
                try volume.setAttribute(bytes(name), to: [1], flags: 0, of: file)
            }
            #expect(throws: Fault.errno(EOPNOTSUPP), "\(name)") { try volume.attribute(bytes(name), of: file) }
        }
        #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(bytes("security.capability"), of: file) }
    }

    @Test("A name is at most 255 bytes long, with the prefix under which the host keeps it")
    func longNames() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"))
        for (prefix, host) in [("com.apple.", "user.com.apple."), ("user.", "user.")] {
            func name(_ length: Int) -> [UInt8] { bytes(prefix + String(repeating: "n", count: length - host.count)) }
            try volume.setAttribute(name(255), to: [1], flags: 0, of: file)
            #expect(try volume.attribute(name(255), of: file) == [1])
            try volume.removeAttribute(name(255), of: file)
            #expect(throws: Fault.errno(ERANGE)) { try volume.setAttribute(name(256), to: [1], flags: 0, of: file) }
            #expect(throws: Fault.errno(ERANGE)) { try volume.attribute(name(256), of: file) }
            #expect(throws: Fault.errno(ERANGE)) { try volume.removeAttribute(name(256), of: file) }
        }
    }

    @Test("The flags of the directories that hold further containers can be read and not set")
    func flags() throws {
        let volume = try TestHome().volume
        for directory in ["Groups", "iCloud"] {
            let node = try volume.node(directory)
            // iCloud is never in a backup.
            #expect(try volume.inodeFlags(of: node) == (directory == "iCloud" ? 0x40 : 0))
            #expect(throws: Fault.refused(.topLevel)) { try volume.setInodeFlags(0xC0, of: node) }
        }
        #expect(throws: Fault.refused(.topLevel)) { try volume.setInodeFlags(0x40, of: try volume.node("Groups")) }
    }

    @Test("A directory that the system puts together counts the directories in it")
    func linkCounts() throws {
        let volume = try TestHome().volume
        // Documents, Library, tmp, the bundle, Groups and iCloud.
        #expect(try volume.status(of: .root, handle: nil).linkCount == 2 + 6)
        #expect(try volume.status(of: try volume.node("Groups"), handle: nil).linkCount == 2 + 1)
    }

    @Test("Setting what is there already succeeds where nothing may be set")
    func equalValue() throws {
        let home = try TestHome()
        let volume = home.volume
        try home.deliver("a.txt", "text")
        let name = "user.com.apple.metadata"
        let stored = try Descriptor.open(path: "\(home.directory)/data/Documents/Inbox/a.txt", flags: O_RDONLY)
        try AttributeHolder(file: stored).set(bytes(name), to: bytes("abc"), flags: 0)
        let file = try volume.node("Documents/Inbox/a.txt")
        try volume.setAttribute(bytes("com.apple.metadata"), to: bytes("abc"), flags: 0, of: file)
        #expect(throws: Fault.refused(.inbox)) {
            try volume.setAttribute(bytes(name), to: bytes("other"), flags: 0, of: file)
        }
        #expect(throws: Fault.refused(.inbox)) { try volume.removeAttribute(bytes(name), of: file) }
        #expect(try volume.attribute(bytes(name), of: file) == bytes("abc"))
    }

    @Test("Symbolic links, fifos and sockets carry none")
    func holders() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let link = try volume.makeSymbolicLink("link", in: documents, target: [65], caller: TestHome.caller).node
        let fifo = try volume.makeNode("fifo", in: documents, mode: S_IFIFO | 0o600, caller: TestHome.caller).node
        for node in [link, fifo] {
            #expect(throws: Fault.refused(.attributeHolder)) {
                try volume.setAttribute(bytes("user.a"), to: [1], flags: 0, of: node)
            }
            #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(bytes("user.a"), of: node) }
            #expect(try volume.attributeNames(of: node) == [])
        }
    }

    @Test("Attributes of directories, of removed open files, and values as large as the host holds")
    func places() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        try volume.setAttribute(bytes("user.a"), to: [1], flags: 0, of: documents)
        #expect(try volume.attributeNames(of: documents) == [bytes("user.a")])

        let (entry, handle) = try volume.create("file", in: documents)
        defer { volume.close(handle) }
        try volume.removeFile("file", in: documents)
        try volume.setAttribute(bytes("user.a"), to: [7], flags: 0, of: entry.node)
        #expect(try volume.attribute(bytes("user.a"), of: entry.node) == [7])
        #expect(throws: Fault.errno(ENOSPC)) {
            try volume.setAttribute(
                bytes("user.b"), to: [UInt8](repeating: 1, count: 70_000), flags: 0, of: entry.node)
        }
    }
}
