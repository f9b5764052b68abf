// The rules of the sandbox, one sentence at a time.

import SandboxModel
import SandboxPolicy
import Testing

/// Sentences of the contract, each asked of the policy as it stands there.
@Suite("The sandbox's rules")
struct PolicyTests {
    private let naming = Operation.allCases.filter(\.givesName)

    private func refused(_ operations: [Operation], _ zone: Zone) -> Set<Rule?> {
        Set(operations.map { SandboxPolicy.refusal(of: $0, in: zone) })
    }

    @Test("Looking and reading are refused nowhere", arguments: Zone.allCases)
    func reading(zone: Zone) {
        #expect(refused([.inspect, .read], zone) == [nil])
    }

    @Test("The bundle and the metadata refuse everything else")
    func sealed() {
        let others = Operation.allCases.filter { $0 != .inspect && $0 != .read }
        #expect(refused(others, .bundle) == [.sealedBundle])
        #expect(refused(others, .metadata) == [.metadata])
    }

    @Test("Nothing is made, renamed or removed at the top level, nor beside the group containers")
    func topLevel() {
        for zone in [Zone.device, .home, .containers] {
            #expect(refused(naming + [.remove, .renameFrom], zone) == [.topLevel])
        }
    }

    @Test("The standard directories stay where they are, and are free inside and in their attributes")
    func standardDirectories() {
        for zone in [Zone.standardDirectory, .documents] {
            #expect(refused([.remove, .renameFrom], zone) == [.standardDirectory])
            #expect(refused(naming, zone) == [nil])
            #expect(refused([.changeMode, .changeOwner, .changeTimes, .setAttribute, .removeAttribute], zone) == [nil])
        }
    }

    @Test("The Inbox is read and emptied, no more")
    func inbox() {
        let allowed: [Operation] = [.inspect, .read, .remove, .renameFrom]
        #expect(refused(allowed, .inboxItem) == [nil])
        #expect(refused(Operation.allCases.filter { !allowed.contains($0) }, .inboxItem) == [.inbox])
        #expect(refused(Operation.allCases.filter { $0 != .inspect && $0 != .read }, .inbox) == [.inbox])
    }

    @Test("The app does as it likes with what it made")
    func container() {
        #expect(refused(Operation.allCases, .container) == [nil])
    }

    @Test("Inbox is a name like any other everywhere but directly in Documents")
    func inboxName() {
        for zone in Zone.allCases {
            #expect(SandboxPolicy.refusal(ofName: "Inbox", in: zone) == (zone == .documents ? .inboxName : nil))
            #expect(SandboxPolicy.refusal(ofName: "Inboxes", in: zone) == nil)
        }
        #expect(
            SandboxPolicy.refusalOfRename(of: .container, to: "Inbox", in: .documents, replacing: nil) == .inboxName)
        #expect(SandboxPolicy.refusalOfRename(of: .container, to: "Inbox", in: .container, replacing: nil) == nil)
    }

    @Test("Out of the Inbox to a writable place, but not within it, not back, and not by exchange")
    func movesAroundTheInbox() {
        #expect(SandboxPolicy.refusalOfRename(of: .inboxItem, to: "a", in: .documents, replacing: nil) == nil)
        #expect(SandboxPolicy.refusalOfRename(of: .inboxItem, to: "a", in: .container, replacing: .container) == nil)
        #expect(SandboxPolicy.refusalOfRename(of: .inboxItem, to: "a", in: .inbox, replacing: nil) == .inbox)
        #expect(SandboxPolicy.refusalOfRename(of: .container, to: "a", in: .inbox, replacing: nil) == .inbox)
        #expect(SandboxPolicy.refusalOfRename(of: .container, to: "a", in: .inbox, replacing: .inboxItem) == .inbox)
        let delivered = SandboxPolicy.Place(zone: .inboxItem, directory: .inbox, name: "mail")
        let own = SandboxPolicy.Place(zone: .container, directory: .documents, name: "own")
        #expect(SandboxPolicy.refusalOfExchange(delivered, own) == .inbox)
        #expect(SandboxPolicy.refusalOfExchange(own, delivered) == .inbox)
    }

    @Test("A rename over a standard directory would remove it")
    func replacing() {
        #expect(
            SandboxPolicy.refusalOfRename(
                of: .container, to: "Caches", in: .standardDirectory, replacing: .standardDirectory)
                == .standardDirectory)
    }

    @Test("While unlocked, and in the grace period, no class refuses anything")
    func unlocked() {
        for operation in Operation.allCases {
            for protection in ProtectionClass.allCases {
                for state in [DeviceState.unlocked, .locking] {
                    #expect(SandboxPolicy.refusal(of: operation, protection: protection, state: state) == nil)
                }
            }
        }
    }

    @Test("Locked: A is closed at once, B goes on on open descriptors and new files, C and D go on")
    func locked() {
        func rule(_ operation: Operation, _ protection: ProtectionClass, opened: Bool = false) -> Rule? {
            SandboxPolicy.refusal(of: operation, protection: protection, state: .locked, opened: opened)
        }
        for operation in [Operation.read, .write, .truncate] {
            #expect(rule(operation, .complete) == .dataProtection)
            #expect(rule(operation, .complete, opened: true) == .dataProtection)
            #expect(rule(operation, .completeUnlessOpen) == .dataProtection)
            #expect(rule(operation, .completeUnlessOpen, opened: true) == nil)
            #expect(rule(operation, .completeUntilFirstUserAuthentication) == nil)
            #expect(rule(operation, .none) == nil)
        }
        #expect(rule(.create, .complete) == .dataProtection)
        #expect(rule(.create, .completeUnlessOpen) == nil)
    }

    @Test("Before first unlock only D is open, and B can be created")
    func beforeFirstUnlock() {
        for protection in ProtectionClass.allCases {
            let read = SandboxPolicy.refusal(of: .read, protection: protection, state: .beforeFirstUnlock)
            #expect(read == (protection == .none ? nil : .dataProtection))
            let create = SandboxPolicy.refusal(of: .create, protection: protection, state: .beforeFirstUnlock)
            let creatable: [ProtectionClass] = [.completeUnlessOpen, .none]
            #expect(create == (creatable.contains(protection) ? nil : .dataProtection))
        }
    }

    @Test("Operations that do not reach content are allowed in every state and class")
    func metadataStaysReachable() {
        let content: Set<Operation> = [.read, .write, .truncate, .create]
        for operation in Operation.allCases where !content.contains(operation) {
            for protection in ProtectionClass.allCases {
                for state in DeviceState.allCases {
                    #expect(SandboxPolicy.refusal(of: operation, protection: protection, state: state) == nil)
                }
            }
        }
    }

    @Test("A class changes where both keys are at hand, and from D to B while locked")
    func classChange() {
        #expect(SandboxPolicy.refusalOfClassChange(from: .none, to: .completeUnlessOpen, state: .locked) == nil)
        #expect(SandboxPolicy.refusalOfClassChange(from: .none, to: .complete, state: .locked) == .dataProtection)
        #expect(
            SandboxPolicy.refusalOfClassChange(from: .completeUnlessOpen, to: .none, state: .locked)
                == .dataProtection)
        #expect(SandboxPolicy.refusalOfClassChange(from: .complete, to: .none, state: .unlocked) == nil)
    }
}
