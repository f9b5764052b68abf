// Small parts of a volume: names of extended attributes, withdrawn names, the owner of new entries.

import Platform
import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("Names of extended attributes")
struct ExtendedAttributeNameTests {
    private func name(_ text: String) -> ExtendedAttributeName { ExtendedAttributeName(Array(text.utf8)) }

    @Test("Apple's names and user names are stored under the user namespace")
    func stored() {
        for (given, kept) in [("user.a", "user.a"), ("com.apple.a", "user.com.apple.a")] {
            guard case .stored(let stored) = name(given) else { return #expect(Bool(false), "\(given)") }
            #expect(stored == Array(kept.utf8))
        }
    }

    @Test("Other namespaces, empty names and names that are too long are told apart")
    func others() {
        for other in ["user.", "com.apple.", "trusted.a", "system.a", "a", ""] {
            guard case .unsupported = name(other) else { return #expect(Bool(false), "\(other)") }
        }
        // With the prefix that it gets, the name is longer than the host takes.
        guard case .tooLong = name("com.apple." + String(repeating: "a", count: 245)) else {
            return #expect(Bool(false), "not too long")
        }
        guard case .capability = name("security.capability"), case .computed = name("user.appcontainer.other"),
            case .protection = name(ProtectionClass.attributeName),
            case .inclusion = name(BackupInclusion.attributeName)
        else { return #expect(Bool(false), "names of this filesystem") }
    }
}

@Suite("Names withdrawn by a purge")
struct WithdrawnNamesTests {
    @Test("They are taken once")
    func taken() {
        let withdrawn = WithdrawnNames()
        let parent = Node(
            id: NodeID(slot: 2, epoch: 0), generation: 1, kind: .directory, inode: 5, zone: .standardDirectory,
            parent: nil, name: nil)
        withdrawn.add(["a", "b"], in: parent)
        withdrawn.add(["c"], in: parent)
        let taken = withdrawn.takeAll()
        #expect(taken.map(\.name) == ["a", "b", "c"] && taken.allSatisfy { $0.parent === parent })
        #expect(withdrawn.takeAll().isEmpty)
    }
}

@Suite("The owner of a new entry")
struct DaemonCredentialsTests {
    @Test("Only a superuser's daemon gives entries away, and not to itself")
    func owner() throws {
        let directory = try TestHome().data
        let caller = Caller(user: 501, group: 502, thread: 1)
        let plain = try DaemonCredentials(user: 1000, group: 1000).newOwner(for: caller, in: directory)
        #expect(plain == nil)
        let root = DaemonCredentials(user: 0, group: 0)
        let given = try #require(try root.newOwner(for: caller, in: directory))
        #expect(given.0 == 501 && given.1 == 502)
        let own = try root.newOwner(for: Caller(user: 0, group: 0, thread: 1), in: directory)
        #expect(own == nil)
    }
}
