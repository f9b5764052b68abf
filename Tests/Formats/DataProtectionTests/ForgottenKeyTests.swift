// A search of the process's memory for keys that were forgotten.

import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DataProtection

/// Each test searches for a key while it is in use, to show that it would be found, and again when it should be gone.
@Suite("Forgotten keys are nowhere in memory", .serialized)
struct ForgottenKeyTests {
    private func masked(_ secret: borrowing SecretCell) -> [UInt8] {
        (0..<SecretCell.count).map { unsafe ~secret.base.load(fromByteOffset: $0, as: UInt8.self) }
    }

    /// Uses and forgets keys deep on the stack, where careless functions would leave copies.
    @inline(never)
    private func useAndForget(_ protection: ProtectionClass) throws -> (classKey: [UInt8], fileKey: [UInt8]) {
        let uidKey = UIDKey()
        let passcode = Array("1234".utf8)
        let (keybag, _) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: PasscodeCost(level: 4)!)
        let ring = try keybag.openWithoutPasscode(uidKey: uidKey)
        try keybag.unlock(passcode: passcode, uidKey: uidKey, into: ring)
        let cipher = BlockCipher()
        let page = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        let binding = BlockCipher.Binding(domain: 1, fileID: (1, 2), index: 3, length: 4096)

        let (key, wrapped) = try ring.makeFileKey(protection)
        let again = try ring.unwrap(wrapped)
        page.withBytes(0, count: 4096) {
            cipher.seal($0, key: key, binding: binding, into: .init(page, 0), slot: .init(slot, 0))
        }
        #expect(cipher.open(.inPlace(page), count: 4096, key: again, binding: binding, slot: .init(slot, 0)))
        let fileKey = masked(key.secret)
        let classKey = masked(try #require(ring.classKey(protection)).secret)
        #expect(ProcessMemory.occurrences(masked: fileKey) >= 2)
        #expect(ProcessMemory.occurrences(masked: classKey) >= 1)
        ring.forget([protection])
        cipher.wipe()
        // The ring and the cipher live on, empty.
        #expect(!ring.isAvailable(protection))
        withExtendedLifetime((key, again, cipher)) {}
        return (classKey, fileKey)
    }

    @Test("Class key and file key, after a lock", arguments: [ProtectionClass.complete, .completeUnlessOpen])
    func lock(protection: ProtectionClass) throws {
        let keys = try useAndForget(protection)
        #expect(ProcessMemory.occurrences(masked: keys.fileKey) == 0)
        #expect(ProcessMemory.occurrences(masked: keys.classKey) == 0)
    }
}
