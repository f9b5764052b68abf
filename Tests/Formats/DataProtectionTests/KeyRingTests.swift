// The key ring: wrapping and unwrapping file keys while class keys come and go.

import Foundation
import SandboxModel
import Synchronization
import Testing

@testable import DataProtection

@Suite("The key ring")
struct KeyRingTests {
    private func fullRing() -> KeyRing {
        Keybag.create(passcode: nil, uidKey: UIDKey()).1
    }

    @Test("A file's key comes back from its wrapped form, in every class", arguments: ProtectionClass.allCases)
    func roundTrip(protection: ProtectionClass) throws {
        let ring = fullRing()
        let (key, wrapped) = try ring.makeFileKey(protection)
        #expect(wrapped.protection == protection)
        #expect(wrapped.blob.count == (protection == .completeUnlessOpen ? 72 : 40))
        #expect(wrapped.blob.count == WrappedFileKey.blobLength(protection))
        let again = try ring.unwrap(wrapped)
        #expect(again.secret.bytes == key.secret.bytes)
        #expect(again.serial != key.serial)
    }

    @Test("Class B's blob equals an independent computation")
    func classB() throws {
        let classSecret = (0..<176).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }[48..<80]
        let ring = KeyRing()
        ring.setPublicKey(Agreement.Pair(SecretCell(copying: classSecret)).publicKey)
        ring.insert(ClassKey(SecretCell(copying: classSecret)), for: .completeUnlessOpen)
        let blob = hex(
            "7d9c24316539825c1896e57f28197746793ce60cbee3ad47da9d07b85fa55e2aef7ae9b6dd2e7bdcee35df2ad8b6b308"
                + "173829fc307792c11606792f686bc9e13ce030bc1b8c666b")
        let key = try ring.unwrap(WrappedFileKey(protection: .completeUnlessOpen, blob: blob))
        #expect(key.secret.bytes == [UInt8](200..<232))
    }

    @Test("Without a class's key, its files can be neither made nor opened", arguments: ProtectionClass.allCases)
    func forgotten(protection: ProtectionClass) throws {
        let ring = fullRing()
        let (_, wrapped) = try ring.makeFileKey(protection)
        ring.forget([protection])
        for other in ProtectionClass.allCases { #expect(ring.isAvailable(other) == (other != protection)) }
        #expect(throws: KeyFault.unavailable(protection)) { try ring.unwrap(wrapped) }
        if protection == .completeUnlessOpen {
            // The public key stays: new files can be made while locked, and opened after the next unlock.
            _ = try ring.makeFileKey(protection)
        } else {
            #expect(throws: KeyFault.unavailable(protection)) { try ring.makeFileKey(protection) }
        }
    }

    @Test("An empty ring opens nothing and wraps for nothing", arguments: ProtectionClass.allCases)
    func empty(protection: ProtectionClass) {
        #expect(!KeyRing().isAvailable(protection))
        #expect(throws: KeyFault.unavailable(protection)) { try KeyRing().makeFileKey(protection) }
    }

    @Test("A changed or cut blob, another class's or another device's, is damaged", arguments: ProtectionClass.allCases)
    func damaged(protection: ProtectionClass) throws {
        let ring = fullRing()
        let (_, wrapped) = try ring.makeFileKey(protection)
        for byte in wrapped.blob.indices {
            // The top bit of a public key is not part of it (RFC 7748, 5), but goes into the KDF.
            for bit: UInt8 in [0x01, 0x80] {
                var blob = wrapped.blob
                blob[byte] ^= bit
                #expect(throws: KeyFault.damaged, "byte \(byte)") {
                    try ring.unwrap(WrappedFileKey(protection: protection, blob: blob))
                }
            }
        }
        for blob in [[], Array(wrapped.blob.dropLast()), wrapped.blob + [0]] {
            #expect(throws: KeyFault.damaged) { try ring.unwrap(WrappedFileKey(protection: protection, blob: blob)) }
        }
        for other in ProtectionClass.allCases where other != protection {
            #expect(throws: KeyFault.damaged) {
                try ring.unwrap(WrappedFileKey(protection: other, blob: wrapped.blob))
            }
        }
        #expect(throws: KeyFault.damaged) { try fullRing().unwrap(wrapped) }
    }

    @Test("A change of class wraps the same key anew, from D to B while locked too")
    func changeOfClass() throws {
        let ring = fullRing()
        let (key, _) = try ring.makeFileKey(.none)
        for protection in ProtectionClass.allCases {
            #expect(try ring.unwrap(ring.wrap(key, as: protection)).secret.bytes == key.secret.bytes)
        }
        ring.forget([.complete, .completeUnlessOpen])
        _ = try ring.wrap(key, as: .completeUnlessOpen)
        #expect(throws: KeyFault.unavailable(.complete)) { try ring.wrap(key, as: .complete) }
    }

    @Test("Many threads make and unwrap keys while classes come and go")
    func concurrent() {
        let ring = fullRing()
        let classKey = ring.classKey(.complete)!
        let wrong = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0..<400 {
                if worker == 0 {
                    if round % 2 == 0 { ring.forget([.complete]) } else { ring.insert(classKey, for: .complete) }
                    continue
                }
                let protection = ProtectionClass.allCases[round % 4]
                do throws(KeyFault) {
                    let (key, wrapped) = try ring.makeFileKey(protection)
                    if try ring.unwrap(wrapped).secret.bytes != key.secret.bytes { wrong.add(1, ordering: .relaxed) }
                } catch {
                    if error != .unavailable(.complete) { wrong.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
