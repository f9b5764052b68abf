// The protection class of files and directories, as an attribute.

import BackingStore
import CHostFaults
import ContainerVolume
import DataProtection
import Foundation
import Platform
import SandboxModel
import Testing

@Suite("The attribute that names a protection class")
struct ProtectionAttributeTests {
    @Test("Four values, to the letter; in every state; listed only where it says something new")
    func values() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents, "text")
        let directory = try volume.makeDirectory("directory", in: documents).node
        for node in [file, directory] {
            #expect(try volume.protection(of: node) == .standard)
            #expect(try volume.listsProtection(of: node) == false)
            for protection in ProtectionClass.allCases {
                try volume.protect(node, protection)
                #expect(try volume.protection(of: node) == protection)
                #expect(try volume.listsProtection(of: node) == (protection != .standard))
            }
            for bad in [
                "", "complete", "NSFileProtectionComplete\0", "nsfileprotectioncomplete", " NSFileProtectionNone",
                "NSFileProtectionNone ", "NSFileProtection", "A",
            ] {
                #expect(throws: Fault.errno(EINVAL), "\(bad)") {
                    try volume.setAttribute(classAttribute, to: Array(bad.utf8), flags: 0, of: node)
                }
            }
            #expect(try volume.protection(of: node) == ProtectionClass.none)
        }
        home.lock()
        #expect(try volume.protection(of: file) == ProtectionClass.none)
        try home.restart()
        #expect(try home.volume.protection(of: home.volume.node("Documents/file")) == ProtectionClass.none)
        #expect(try home.volume.protection(of: home.volume.node("Documents/directory")) == ProtectionClass.none)
        #expect(try home.volume.text("Documents/file") == "text")
    }

    @Test("Links, fifos, the bundle and the top level have no class")
    func holders() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        let link = try volume.makeSymbolicLink("link", in: documents, target: [65], caller: TestHome.caller).node
        let fifo = try volume.makeNode("fifo", in: documents, mode: S_IFIFO | 0o600, caller: TestHome.caller).node
        for node in [link, fifo] {
            #expect(throws: Fault.refused(.attributeHolder)) { try volume.protect(node, .complete) }
            #expect(throws: Fault.refused(.attributeHolder)) { try volume.removeAttribute(classAttribute, of: node) }
            #expect(throws: Fault.errno(ENODATA)) { try volume.protection(of: node) }
            #expect(try volume.listsProtection(of: node) == false)
        }
        for (path, rule) in [
            ("", Rule.topLevel), ("Groups", .topLevel), ("iCloud", .topLevel), ("Notes.app", .sealedBundle),
            ("Notes.app/en.lproj", .sealedBundle), ("Notes.app/Info.plist", .sealedBundle),
        ] {
            let node = try volume.node(path)
            #expect(throws: Fault.errno(ENODATA), "\(path)") { try volume.protection(of: node) }
            #expect(throws: Fault.refused(rule), "\(path)") { try volume.protect(node, .standard) }
            #expect(throws: Fault.refused(rule), "\(path)") { try volume.removeAttribute(classAttribute, of: node) }
            #expect(try volume.attributeNames(of: node) == [], "\(path)")
        }
        for other in ["user.appcontainer.protection2", "user.appcontainer.class", "user.appcontainer.protectio"] {
            #expect(throws: Fault.refused(.computedAttribute)) {
                try volume.setAttribute(Array(other.utf8), to: [1], flags: 0, of: documents)
            }
        }
    }

    @Test("If attributes cannot be set, a listed class can be set to its own value")
    func sealedZones() throws {
        let home = try TestHome()
        try home.deliver("a.txt", "text")
        let volume = home.volume
        for (path, rule) in [
            ("Documents/Inbox", Rule.inbox), ("Documents/Inbox/a.txt", .inbox),
            (".com.apple.mobile_container_manager.metadata.plist", .metadata),
        ] {
            let node = try volume.node(path)
            #expect(try volume.protection(of: node) == .standard, "\(path)")
            for protection in [ProtectionClass.standard, .complete] {
                #expect(throws: Fault.refused(rule), "\(path)") { try volume.protect(node, protection) }
            }
            #expect(throws: Fault.refused(rule), "\(path)") {
                try volume.setAttribute(classAttribute, to: [65], flags: 0, of: node)
            }
            #expect(throws: Fault.refused(rule), "\(path)") { try volume.removeAttribute(classAttribute, of: node) }
            #expect(try volume.attributeNames(of: node) == [], "\(path)")
        }
        try volume.protect(volume.node("Documents"), .complete)
        let inbox = try volume.node("Documents/Inbox")
        #expect(try volume.attributeNames(of: inbox) == [classAttribute])
        try volume.protect(inbox, .standard)
        #expect(throws: Fault.refused(.inbox)) { try volume.protect(inbox, .complete) }
    }

    @Test("XATTR_CREATE minds what is listed, and XATTR_REPLACE nothing")
    func createAndReplace() throws {
        let (create, replace): (Int32, Int32) = (1, 2)
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        let nodes = [
            try volume.make("file", in: documents), try volume.makeDirectory("directory", in: documents).node,
            documents,
        ]
        for node in nodes {
            try volume.protect(node, .none, flags: replace)
            #expect(throws: Fault.errno(EEXIST)) { try volume.protect(node, .complete, flags: create) }
            try volume.protect(node, .standard, flags: replace)
            try volume.protect(node, .complete, flags: create)
            #expect(try volume.protection(of: node) == .complete)
            try volume.removeAttribute(classAttribute, of: node)
            // Documents gave class A for a while, but to nothing that was made before.
            #expect(try volume.protection(of: node) == .standard)
        }
    }

    @Test("Listed and removed by what the directory gives, which goes for what the system made too")
    func listing() throws {
        let volume = try TestHome().volume
        let library = try volume.node("Library")
        let caches = try volume.node("Library/Caches")
        let file = try volume.make("file", in: library)
        let directory = try volume.makeDirectory("directory", in: library).node
        try volume.protect(library, .complete)
        #expect(try volume.listsProtection(of: library))
        // All are of the default class still, which the directory does not give any more.
        for node in [file, directory, caches] {
            #expect(try volume.protection(of: node) == .standard)
            #expect(try volume.listsProtection(of: node))
            try volume.removeAttribute(classAttribute, of: node)
            #expect(try volume.protection(of: node) == .complete)
            #expect(try volume.listsProtection(of: node) == false)
            try volume.removeAttribute(classAttribute, of: node)
        }
        for path in ["Groups/\(TestHome.group)", "iCloud/\(TestHome.iCloud)"] {
            let root = try volume.node(path)
            #expect(try volume.protection(of: root) == .standard)
            try volume.protect(root, .completeUnlessOpen)
            #expect(try volume.listsProtection(of: root))
            #expect(try volume.protection(of: volume.make("file", in: root)) == .completeUnlessOpen)
        }
        // Beside the attributes that the host keeps.
        try volume.setAttribute(Array("user.a".utf8), to: [1], flags: 0, of: library)
        #expect(Set(try volume.attributeNames(of: library)) == [Array("user.a".utf8), classAttribute])
    }
}

@Suite("The class of new entries")
struct ProtectionInheritanceTests {
    @Test("Files, nodes and directories take their directory's, and keep it wherever they go")
    func inheritance() throws {
        let home = try TestHome()
        var volume = home.volume
        let documents = try volume.node("Documents")
        let secret = try volume.makeDirectory("secret", in: documents).node
        let before = try volume.make("before", in: secret)
        try volume.protect(secret, .complete)
        #expect(try volume.protection(of: before) == .standard)
        let file = try volume.make("file", in: secret, "text")
        let made = try volume.makeNode("node", in: secret, mode: S_IFREG | 0o600, caller: TestHome.caller).node
        let inner = try volume.makeDirectory("inner", in: secret).node
        let deep = try volume.make("deep", in: inner)
        for node in [file, made, inner, deep] {
            #expect(try volume.protection(of: node) == .complete)
            #expect(try volume.listsProtection(of: node) == false)
        }
        try volume.rename("inner", in: secret, to: "moved", in: documents, mode: .replacing)
        try volume.rename("file", in: secret, to: "file", in: documents, mode: .replacing)
        try volume.rename("secret", in: documents, to: "renamed", in: documents, mode: .replacing)
        for node in [file, inner] { #expect(try volume.listsProtection(of: node)) }
        #expect(try volume.listsProtection(of: deep) == false)
        #expect(try volume.protection(of: volume.make("later", in: inner)) == .complete)
        try home.restart()
        volume = home.volume
        for path in ["moved", "moved/deep", "moved/later", "file", "renamed", "renamed/node"] {
            #expect(try volume.protection(of: volume.node("Documents/\(path)")) == .complete, "\(path)")
        }
        #expect(try volume.protection(of: volume.node("Documents/renamed/before")) == .standard)
        #expect(try volume.protection(of: volume.make("new", in: volume.node("Documents/moved"))) == .complete)
        #expect(try volume.protection(of: volume.make("new", in: volume.node("Documents"))) == .standard)
    }

    @Test("The default class of a directory in a stricter one is its own, and nothing is stored for it")
    func defaultInside() throws {
        let home = try TestHome()
        let volume = home.volume
        let documents = try volume.node("Documents")
        try volume.protect(documents, .complete)
        let inner = try volume.makeDirectory("inner", in: documents).node
        try volume.protect(inner, .standard)
        #expect(try volume.listsProtection(of: inner))
        let stored = try Descriptor.open(path: "\(home.directory)/data/Documents/inner", flags: O_RDONLY)
        #expect(try AttributeHolder(file: stored).names() == [])
        #expect(try volume.protection(of: volume.make("file", in: inner)) == .standard)
    }

    @Test("A removed directory's successor of the same name and number begins anew")
    func successor() throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        for _ in 0..<20 {
            let old = try volume.makeDirectory("directory", in: documents).node
            #expect(try volume.protection(of: old) == .standard)
            try volume.protect(old, .none)
            try volume.removeDirectory("directory", in: documents)
            #expect(try volume.protection(of: old) == ProtectionClass.none)
            volume.forget(old, count: 1)
        }
    }

    @Test("Directories of any mode pass a class on", arguments: [0o755, 0o300, 0o000] as [mode_t])
    func modes(mode: mode_t) throws {
        let volume = try TestHome().volume
        let documents = try volume.node("Documents")
        try volume.protect(documents, .complete)
        let directory = try volume.makeDirectory("directory", in: documents, mode: mode, caller: TestHome.caller).node
        #expect(try volume.status(of: directory, handle: nil).permissions == mode)
        #expect(try volume.protection(of: directory) == .complete)
    }

    @Test("A stored class that is none of the four counts as the strictest")
    func damaged() throws {
        let home = try TestHome()
        let stored = try Descriptor.open(path: "\(home.directory)/data/Documents", flags: O_RDONLY)
        try AttributeHolder(file: stored).set(classAttribute, to: Array("NSFileProtectionX".utf8))
        let volume = home.volume
        let documents = try volume.node("Documents")
        #expect(try volume.protection(of: documents) == .complete)
        #expect(try volume.protection(of: volume.make("file", in: documents)) == .complete)
        try volume.removeAttribute(classAttribute, of: documents)
        #expect(try AttributeHolder(file: stored).names() == [])
    }
}

/// The attribute's name, as the kernel gives it.
let classAttribute = Array(ProtectionClass.attributeName.utf8)

extension Volume {
    func protect(_ node: NodeID, _ protection: ProtectionClass, flags: Int32 = 0) throws(Fault) {
        try setAttribute(classAttribute, to: Array(protection.foundationName.utf8), flags: flags, of: node)
    }

    func protection(of node: NodeID) throws(Fault) -> ProtectionClass? {
        ProtectionClass(attributeValue: try self.attribute(classAttribute, of: node))
    }

    func listsProtection(of node: NodeID) throws(Fault) -> Bool {
        try attributeNames(of: node).contains(classAttribute)
    }
}

extension TestHome {
    /// Locks: the keys of the two classes go.
    func lock() {
        context.deviceState = .locked
        keys.forget([.complete, .completeUnlessOpen])
    }

    /// As after a boot, with a passcode that nobody gave yet.
    func boot() {
        context.deviceState = .beforeFirstUnlock
        keys.forget([.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication])
    }
}
