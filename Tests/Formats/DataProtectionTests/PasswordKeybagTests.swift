// The class keys under a backup password: a known answer, and what untrusted bytes can do.

import Foundation
import HashFunctions
import SandboxModel
import Testing

@testable import DataProtection

@Suite struct PasswordKeybagTests {
    /// Password `swordfish`, N = 4, the keys 01…, 02…, 03… and 04…; computed with Python's hashlib and cryptography.
    private static let known = hex(
        "414350574442414701000000020000000800000001000000000102030405060708090a0b0c0d0e0f20212223"
            + "2425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f5d0b4a2cb9a0ec37f297a22a5dd240cf"
            + "4b5c6f0792aa028872cd4d1a82946620033b0fc34484a39664732c7fc2e3409d329acc050b26a0fc5ca74925"
            + "93291167824ad6cafe68bfc76e4fc34225697d3f3f31d51fcec3ddb3b3b949f6f5561deed46141d14cfc989a"
            + "8b2a4496cfe72c7103477cf64d412601070b41f51c1253309e6382c2e06e10865f04c2d50e3f909e596dc848"
            + "9db4b602e3a7b1655d1ae2123d23c1df8f56bab82a9eca8ea0a213a4ce06f0593abed606f75ac68656121ed3"
            + "4c1efab637a7bcd4bd61ec6e05a1dc1c19f5140ef42982eb")
    /// A file's key 55… under class A's key 01….
    private static let wrappedFileKey = hex(
        "605c461a3e21ff58f7790f3f30264d2cf03dc8c267bbeeb5b1166543e6c88080963603ab40d8b14d")
    /// HMAC of `proof` under the key 04….
    private static let proof = hex(
        "e3c1ac5260ee5dcace34c855f7ade3079119f1edc96470442a8d4633be18efb5")
    private static let password = Array("swordfish".utf8)
    private let uidKey = UIDKey()

    private func fault(_ body: () throws -> Void) -> PasswordKeybagFault? {
        do { try body() } catch { return error as? PasswordKeybagFault }
        return nil
    }

    /// The known keybag with other bytes at an offset, and a checksum that agrees.
    private func changed(_ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
        var all = Array(Self.known.dropLast(24))
        all.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return all + HashFunction.sha256.digest(of: all).prefix(24)
    }

    @Test func `a keybag from an independent computation is opened`() throws {
        let keybag = try PasswordKeybag(decoding: Self.known)
        #expect(keybag.identifier == Array(0..<16) && keybag.encoded() == Self.known)
        let keys = try keybag.open(password: Self.password)
        let key = try keys.ring.unwrap(WrappedFileKey(protection: .complete, blob: Self.wrappedFileKey))
        let again = try keys.ring.wrap(key, as: .complete)
        #expect(again.blob == Self.wrappedFileKey)
        #expect(keys.proofs.authenticationCode(over: Array("proof".utf8)) == Self.proof)
        #expect(!keys.ring.isAvailable(.none))
    }

    @Test func `what the device wraps opens elsewhere with the password, in every class but D, and after a change too`()
        throws
    {
        let (device, ring) = Keybag.create(passcode: [1], uidKey: uidKey, cost: PasscodeCost(level: 1)!)
        let proofs = SealedFileKey(uidKey, keybag: device.identifier)
        let made = try PasswordKeybag.create(
            password: Self.password, of: ring, proofs: proofs, identifier: device.identifier, level: 1)
        let changed = try made.changingPassword(from: Self.password, to: [9], level: 2)
        #expect(made.salt != changed.salt && changed.cost.level == 2 && changed.identifier == device.identifier)
        for (keybag, password) in [(made, Self.password), (changed, [9])] {
            let keys = try PasswordKeybag(decoding: keybag.encoded()).open(password: password)
            for protection in [ProtectionClass.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication] {
                let (key, wrapped) = try ring.makeFileKey(protection)
                let opened = try keys.ring.unwrap(wrapped)
                let same = Derivation.areEqual(
                    Derivation.authenticationCode(key.secret, over: [1]),
                    Derivation.authenticationCode(opened.secret, over: [1]))
                #expect(same, "\(protection)")
            }
            #expect(keys.proofs.authenticationCode(over: [2]) == proofs.authenticationCode(over: [2]))
        }
        #expect(fault { _ = try changed.open(password: Self.password) } == .wrongPassword)
    }

    @Test func `a ring without a key makes no keybag`() throws {
        for protection in [ProtectionClass.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication] {
            let (device, ring) = Keybag.create(passcode: [1], uidKey: uidKey, cost: PasscodeCost(level: 1)!)
            ring.forget([protection])
            #expect(throws: PasswordKeybag.MakingFault.unavailable(protection)) {
                _ = try PasswordKeybag.create(
                    password: Self.password, of: ring, proofs: SealedFileKey(uidKey, keybag: device.identifier),
                    identifier: device.identifier, level: 1)
            }
        }
    }

    @Test func `a host without memory gets a fault, not the end of the process`() async {
        await #expect(processExitsWith: .success) {
            let (device, ring) = Keybag.create(passcode: [1], uidKey: UIDKey(), cost: PasscodeCost(level: 1)!)
            let proofs = SealedFileKey(UIDKey(), keybag: device.identifier)
            func make(_ level: Int?) throws(PasswordKeybag.MakingFault) -> PasswordKeybag {
                try PasswordKeybag.create(
                    password: [2], of: ring, proofs: proofs, identifier: device.identifier, level: level)
            }
            let cheap = try make(1)
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[0]
            // Room for the process as it is, and for none of the 256 MiB of a guess.
            var limit = rlimit(rlim_cur: UInt(pages)! * 4096 + (64 << 20), rlim_max: rlim_t.max)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            #expect(throws: PasswordKeybag.MakingFault.noMemory) { _ = try make(18) }
            #expect(throws: PasswordKeybagFault.noMemory) {
                _ = try cheap.changingPassword(from: [2], to: [3], level: 18)
            }
            _ = try make(1)
        }
    }

    @Test func `another password opens nothing`() throws {
        let keybag = try PasswordKeybag(decoding: Self.known)
        for password in [[], Array("swordfisH".utf8), Self.password + [1], Array(Self.password.dropLast())] {
            #expect(fault { _ = try keybag.open(password: password) } == .wrongPassword)
            let change = fault { _ = try keybag.changingPassword(from: password, to: [1], level: 1) }
            #expect(change == .wrongPassword)
        }
    }

    @Test func `no changed byte and no cut passes`() {
        for place in Self.known.indices {
            var bytes = Self.known
            bytes[place] ^= 1
            #expect(fault { _ = try PasswordKeybag(decoding: bytes) } == .damaged, "\(place)")
        }
        for count in 0..<Self.known.count {
            #expect(fault { _ = try PasswordKeybag(decoding: Array(Self.known.prefix(count))) } == .damaged)
        }
        #expect(fault { _ = try PasswordKeybag(decoding: Self.known + [0]) } == .damaged)
    }

    @Test func `bytes that were changed with their checksum are found by the password`() throws {
        // Identifier, salt, each wrapped key, the code.
        for place in Array(24..<264) {
            let bytes = changed(place, [Self.known[place] ^ 0x80])
            let opened = fault { _ = try PasswordKeybag(decoding: bytes).open(password: Self.password) }
            #expect(opened == .wrongPassword, "\(place)")
        }
    }

    @Test func `a cost that would take more than 256 MiB, or is none, is refused before it is paid`() throws {
        for (level, blockSize, parallelism) in [
            (19, 8, 1), (20, 8, 1), (18, 9, 1), (0, 8, 1), (63, 8, 1), (255, 8, 1), (14, 0, 1), (14, 33, 1), (14, 8, 0),
            (14, 8, 2), (14, 8, 16), (16, 1, 1),
        ] {
            let bytes = changed(12, [UInt8(level), 0, 0, 0, UInt8(blockSize), 0, 0, 0, UInt8(parallelism), 0, 0, 0])
            let refused = fault { _ = try PasswordKeybag(decoding: bytes) }
            #expect(refused == .excessiveCost, "\(level) \(blockSize) \(parallelism)")
        }
        let most = changed(12, [18, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0])
        #expect(fault { _ = try PasswordKeybag(decoding: most) } == nil)
    }

    @Test func `a device with a higher cost for its passcode makes no keybag that others refuse`() {
        #expect(PasscodeCost(level: PasswordKeybag.highestLevel)!.work == PasswordKeybag.mostWork)
    }

    @Test func `a later version says so`() {
        #expect(fault { _ = try PasswordKeybag(decoding: changed(8, [2, 0, 0, 0])) } == .newerVersion(2))
        #expect(fault { _ = try PasswordKeybag(decoding: changed(8, [0, 0, 0, 0])) } == .damaged)
    }
}
