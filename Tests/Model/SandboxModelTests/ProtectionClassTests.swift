// Protection classes, and the states of a device in which they can be opened.

import SandboxModel
import Testing

@Suite("Protection classes and device states")
struct ProtectionClassTests {
    @Test("The stored numbers never change")
    func storedNumbers() {
        #expect(ProtectionClass.allCases.map(\.rawValue) == [1, 2, 3, 4])
        #expect(
            ProtectionClass.allCases.map(\.foundationName) == [
                "NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen",
                "NSFileProtectionCompleteUntilFirstUserAuthentication", "NSFileProtectionNone",
            ])
        #expect(ProtectionClass.standard == .completeUntilFirstUserAuthentication)
    }

    @Test("Classes that can be opened, by state")
    func opening() {
        func classes(_ state: DeviceState) -> [UInt8] {
            ProtectionClass.allCases.filter { state.canOpen($0) }.map(\.rawValue)
        }
        #expect(classes(.beforeFirstUnlock) == [4])
        #expect(classes(.unlocked) == [1, 2, 3, 4])
        #expect(classes(.locking) == [1, 2, 3, 4])
        #expect(classes(.locked) == [3, 4])
    }

    @Test("Class B can be created in every state; the others where they can be opened")
    func creating() {
        for state in DeviceState.allCases {
            for protection in ProtectionClass.allCases {
                #expect(state.canCreate(protection) == (protection == .completeUnlessOpen || state.canOpen(protection)))
            }
        }
    }

    @Test("The operations that give a name are those asked of a directory")
    func naming() {
        #expect(
            Operation.allCases.filter(\.givesName) == [
                .create, .makeDirectory, .makeSymbolicLink, .makeNode, .linkInto, .renameInto,
            ])
    }

    @Test("Raw values that appear in events are stable")
    func eventWords() {
        #expect(
            Rule.allCases.map(\.rawValue) == [
                "sealedBundle", "topLevel", "standardDirectory", "metadata", "inbox", "inboxName", "deviceNode",
                "attributeHolder", "computedAttribute", "systemAttribute", "neverInBackup", "cacheTag",
                "dataProtection",
            ])
        #expect(DeviceState.allCases.map(\.rawValue) == ["beforeFirstUnlock", "unlocked", "locking", "locked"])
    }
}
