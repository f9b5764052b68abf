// The device's keybag: its bytes, its passcode, and the refusal of damaged ones.

import HashFunctions
import SandboxModel
import Testing

@testable import DataProtection

@Suite("The keybag")
struct KeybagTests {
    private let cheap = PasscodeCost(level: 4)!
    private let uidKey = UIDKey()
    private let passcode = Array("1234".utf8)

    /// The input of both fixtures.
    private let fixedUID = UIDKey((0..<32).map { UInt8(truncatingIfNeeded: $0 * 5 + 1) })!
    private var fixedStream: RandomStream {
        RandomStream(fixed: (0..<176).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) })
    }

    private func secrets(_ ring: KeyRing) -> [[UInt8]?] {
        ProtectionClass.allCases.map { ring.classKey($0)?.secret.bytes }
    }

    @Test("A whole keybag, byte for byte, with a passcode")
    func knownAnswerWithPasscode() throws {
        var random = fixedStream
        let made = Keybag.create(passcode: Array("correct horse".utf8), uidKey: fixedUID, cost: cheap, random: &random)
        let frozen = try fixture("keybag-1-passcode.hex")
        #expect(made.0.inVersion(1, uidKey: fixedUID).encoded() == frozen)
        let keybag = try Keybag(decoding: frozen)
        #expect(try keybag.upgraded(uidKey: fixedUID) == made.0)
        #expect(keybag.hasPasscode)
        let ring = try keybag.openWithoutPasscode(uidKey: fixedUID)
        try keybag.unlock(passcode: Array("correct horse".utf8), uidKey: fixedUID, into: ring)
        #expect(secrets(ring) == secrets(made.1))
        #expect(ring.classKey(.complete)?.secret.bytes == (16..<48).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) })
    }

    @Test("The keys of files that a keybag's class keys have wrapped: three of 40 bytes, B's of 72")
    func knownFileKeys() throws {
        let keybag = try Keybag(decoding: fixture("keybag-1-passcode.hex"))
        let ring = try keybag.openWithoutPasscode(uidKey: fixedUID)
        try keybag.unlock(passcode: Array("correct horse".utf8), uidKey: fixedUID, into: ring)
        var blobs = try fixture("file-keys-1.hex")[...]
        for protection in ProtectionClass.allCases {
            let blob = Array(blobs.prefix(WrappedFileKey.blobLength(protection)))
            blobs = blobs.dropFirst(blob.count)
            let key = try ring.unwrap(WrappedFileKey(protection: protection, blob: blob))
            #expect(key.secret.bytes == [UInt8](200..<232))
            let again = try ring.wrap(key, as: protection)
            // B's is another each time, by its ephemeral key.
            #expect((again.blob == blob) == (protection != .completeUnlessOpen))
            #expect(try ring.unwrap(again).secret.bytes == key.secret.bytes)
        }
        #expect(blobs.isEmpty)
    }

    @Test("A whole keybag, byte for byte, without a passcode")
    func knownAnswerWithoutPasscode() throws {
        var random = fixedStream
        let made = Keybag.create(passcode: nil, uidKey: fixedUID, cost: cheap, random: &random)
        let frozen = try fixture("keybag-1-without-passcode.hex")
        #expect(made.0.inVersion(1, uidKey: fixedUID).encoded() == frozen)
        let keybag = try Keybag(decoding: frozen)
        #expect(!keybag.hasPasscode)
        #expect(secrets(try keybag.openWithoutPasscode(uidKey: fixedUID)) == secrets(made.1))
    }

    @Test("After a boot only D is available, and B for new files; the passcode makes the others available")
    func boot() throws {
        let (keybag, first) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap)
        let (_, wrappedA) = try first.makeFileKey(.complete)
        let ring = try keybag.openWithoutPasscode(uidKey: uidKey)
        #expect(ProtectionClass.allCases.filter { ring.isAvailable($0) } == [.none])
        for protection in [ProtectionClass.complete, .standard] {
            #expect(throws: KeyFault.unavailable(protection)) { try ring.makeFileKey(protection) }
        }
        _ = try ring.makeFileKey(.none)
        let (locked, wrappedB) = try ring.makeFileKey(.completeUnlessOpen)
        try keybag.unlock(passcode: passcode, uidKey: uidKey, into: ring)
        #expect(ProtectionClass.allCases.allSatisfy { ring.isAvailable($0) })
        #expect(try ring.unwrap(wrappedB).secret.bytes == locked.secret.bytes)
        _ = try ring.unwrap(wrappedA)
    }

    @Test("Without a passcode all classes are available after a boot")
    func bootWithoutPasscode() throws {
        let (keybag, _) = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap)
        let ring = try keybag.openWithoutPasscode(uidKey: uidKey)
        #expect(ProtectionClass.allCases.allSatisfy { ring.isAvailable($0) })
    }

    private func isWrongPasscode(_ error: any Error) -> Bool {
        if case .wrongPasscode? = error as? KeybagFault { true } else { false }
    }

    @Test("A wrong passcode has a mark of its own, in each keybag another")
    func marks() throws {
        let (keybag, ring) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap)
        let (other, _) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap)
        func mark(_ text: String, _ keybag: Keybag) -> [UInt8]? {
            do throws(KeybagFault) {
                try keybag.unlock(passcode: Array(text.utf8), uidKey: uidKey, into: ring)
                return nil
            } catch {
                if case .wrongPasscode(let mark) = error { return mark }
                return nil
            }
        }
        let marks = [mark("0000", keybag), mark("0001", keybag), mark("0000", other), mark("", keybag)]
        #expect(Set(marks).count == 4 && !marks.contains(nil) && !marks.contains([]))
        #expect(mark("0000", keybag) == marks[0])
        #expect(mark("1234", keybag) == nil)
    }

    @Test("A wrong passcode is refused and changes nothing in the ring")
    func wrongPasscode() throws {
        let (keybag, _) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap)
        let ring = try keybag.openWithoutPasscode(uidKey: uidKey)
        for wrong in ["1235", "", "12345", "1234\n"] {
            #expect {
                try keybag.unlock(passcode: Array(wrong.utf8), uidKey: uidKey, into: ring)
            } throws: { isWrongPasscode($0) }
        }
        #expect(ProtectionClass.allCases.filter { ring.isAvailable($0) } == [.none])
        let (open, _) = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap)
        #expect {
            try open.unlock(passcode: passcode, uidKey: uidKey, into: ring)
        } throws: { isWrongPasscode($0) }
    }

    @Test("Setting, changing and removing a passcode keeps the class keys")
    func passcodeChange() throws {
        let (open, first) = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap)
        let set = try open.changingPasscode(from: nil, to: passcode, uidKey: uidKey, cost: cheap)
        let changed = try set.changingPasscode(
            from: passcode, to: Array("5678".utf8), uidKey: uidKey, cost: cheap)
        let removed = try changed.changingPasscode(from: Array("5678".utf8), to: nil, uidKey: uidKey)
        #expect([open, set, changed, removed].map(\.hasPasscode) == [false, true, true, false])
        #expect(Set([set, changed, removed, open].map(\.passcode.salt)).count == 4)

        let ring = try changed.openWithoutPasscode(uidKey: uidKey)
        #expect {
            try changed.unlock(passcode: passcode, uidKey: uidKey, into: ring)
        } throws: { isWrongPasscode($0) }
        try changed.unlock(passcode: Array("5678".utf8), uidKey: uidKey, into: ring)
        #expect(secrets(ring) == secrets(first))
        #expect(secrets(try removed.openWithoutPasscode(uidKey: uidKey)) == secrets(first))

        #expect {
            try changed.changingPasscode(from: passcode, to: nil, uidKey: uidKey)
        } throws: { isWrongPasscode($0) }
        #expect { try changed.changingPasscode(from: nil, to: nil, uidKey: uidKey) } throws: { isWrongPasscode($0) }
    }

    @Test("Another device's keybag is told from a damaged one")
    func otherDevice() throws {
        let (keybag, _) = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap)
        #expect(throws: KeybagFault.otherDevice) { try keybag.openWithoutPasscode(uidKey: UIDKey()) }
        #expect(throws: KeybagFault.otherDevice) {
            try keybag.unlock(passcode: passcode, uidKey: UIDKey(), into: KeyRing())
        }
    }

    @Test("Any changed bit is damage, whichever byte it is in")
    func changedBit() throws {
        let bytes = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap).0.encoded()
        #expect(bytes.count == Keybag.encodedLength)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: KeybagFault.damaged) { try Keybag(decoding: changed) }
        }
    }

    @Test("A change with a corrected checksum is found by the authentication code")
    func forged() throws {
        let bytes = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap).0.encoded()
        for offset in [8, 16, 48, 80, 84, 96, 136, 168, 208, 248, 300] {
            var changed = Array(bytes.dropLast(24))
            changed[offset] ^= offset == 8 ? 3 : 1
            let keybag = try Keybag(decoding: changed + HashFunction.sha256.digest(of: changed).prefix(24))
            // A changed identifier changes every key derived from the UID key, as another device would.
            #expect(throws: offset == 16 ? KeybagFault.otherDevice : .damaged) {
                try keybag.openWithoutPasscode(uidKey: uidKey)
            }
        }
    }

    @Test("A keybag of the first version opens, says that records have no codes, and is upgraded without the passcode")
    func firstVersion() throws {
        let made = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap).0
        let old = try Keybag(decoding: made.inVersion(1, uidKey: uidKey).encoded())
        #expect(made.demandsRecordCodes && !old.demandsRecordCodes)
        let ring = try old.openWithoutPasscode(uidKey: uidKey)
        try old.unlock(passcode: passcode, uidKey: uidKey, into: ring)
        #expect(try old.upgraded(uidKey: uidKey) == made)
        #expect(throws: KeybagFault.otherDevice) { try old.upgraded(uidKey: UIDKey()) }
    }

    @Test("A passcode that is cheaper to guess than the device demands is damage")
    func cheaperThanDemanded() throws {
        let keybag = Keybag.create(passcode: passcode, uidKey: uidKey, cost: cheap).0
        try keybag.requireCost(level: 4)
        for level in [5, 20, nil] {
            #expect(throws: KeybagFault.damaged) { try keybag.requireCost(level: level) }
        }
        try Keybag.create(passcode: passcode, uidKey: uidKey).0.requireCost(level: nil)
        try Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap).0.requireCost(level: nil)
    }

    @Test("A keybag of any other length is truncated")
    func truncated() throws {
        let bytes = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap).0.encoded()
        for length in 0..<bytes.count {
            #expect(throws: KeybagFault.truncated) { try Keybag(decoding: Array(bytes.prefix(length))) }
        }
        #expect(throws: KeybagFault.damaged) { try Keybag(decoding: bytes + [0]) }
        #expect(throws: KeybagFault.damaged) { try Keybag(decoding: [UInt8](repeating: 0, count: 344)) }
    }

    @Test("A later version is recognized")
    func newer() throws {
        var bytes = Array(Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap).0.encoded().dropLast(24))
        bytes[8] = 3
        bytes += [1, 2, 3, 4]
        let later = bytes + HashFunction.sha256.digest(of: bytes).prefix(24)
        #expect(throws: KeybagFault.newerVersion(3)) { try Keybag(decoding: later) }
    }

    @Test("A UID key has 32 bytes and comes back as it was")
    func uid() throws {
        #expect(UIDKey([1, 2, 3]) == nil)
        let again = try #require(UIDKey(uidKey.exported()))
        #expect(again.exported() == uidKey.exported())
        let (keybag, _) = Keybag.create(passcode: nil, uidKey: uidKey, cost: cheap)
        _ = try keybag.openWithoutPasscode(uidKey: again)
    }

    @Test("Costs outside the levels are refused")
    func costs() {
        #expect(PasscodeCost(level: 0) == nil)
        #expect(PasscodeCost(level: 21) == nil)
        #expect(PasscodeCost.levels.allSatisfy { PasscodeCost(level: $0) != nil })
        #expect(PasscodeCost(level: 16, blockSize: 1, parallelism: 1) == nil)
        #expect(PasscodeCost(level: 20, blockSize: 16, parallelism: 1) == nil)
        #expect(PasscodeCost(level: 15, blockSize: 0, parallelism: 1) == nil)
        #expect(PasscodeCost(level: 15, blockSize: 8, parallelism: 17) == nil)
    }

    @Test(
        "A cost that is measured is one of 80 ms, between 16 and 64 MiB",
        arguments: [(80, 8), (40, 16), (57, 11), (30, 21), (20, 32), (1, 32), (81, 8), (2000, 8)])
    func measuredCosts(milliseconds: Int, blockSize: UInt32) {
        let cost = PasscodeCost.measured { cost in
            #expect(cost == PasscodeCost(level: 14, blockSize: 8, parallelism: 1))
            return .milliseconds(milliseconds)
        }
        #expect(cost == PasscodeCost(level: 14, blockSize: blockSize, parallelism: 1))
    }

    @Test("A new passcode is measured where no cost was chosen, and nothing without one")
    func measuredForPasscode() throws {
        let (keybag, _) = Keybag.create(passcode: nil, uidKey: uidKey)
        #expect(keybag.cost == .unused)
        let set = try keybag.changingPasscode(from: nil, to: passcode, uidKey: uidKey)
        #expect(set.cost.level == 14)
        #expect(Keybag.create(passcode: passcode, uidKey: uidKey).0.cost.level == 14)
        #expect(try set.changingPasscode(from: passcode, to: nil, uidKey: uidKey).cost == set.cost)
        #expect(try set.changingPasscode(from: passcode, to: passcode, uidKey: uidKey, cost: cheap).cost == cheap)
    }
}
