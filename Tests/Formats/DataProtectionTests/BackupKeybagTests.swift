// The keybag of a backup, its class keys and its cipher.

import Platform
import Testing

@testable import DataProtection

@Suite("The keybag of a backup")
struct BackupKeybagTests {
    /// Password `password`, 7 and 5 iterations, class 3 alone; computed with Python's hashlib and cryptography.
    private static let known = hex(
        "5645525300000004000000035459504500000004000000015555494400000010000000000000000000000000"
            + "00000000484d434b000000280000000000000000000000000000000000000000000000000000000000000000"
            + "000000000000000057524150000000040000000053414c54000000141415161718191a1b1c1d1e1f20212223"
            + "242526274954455200000004000000054450575400000004000000004450494300000004000000074450534c"
            + "00000014000102030405060708090a0b0c0d0e0f101112135555494400000010010101010101010101010101"
            + "01010101434c415300000004000000035752415000000004000000024b545950000000040000000057504b59"
            + "00000028f21a5d1dbc75cfd9e128c295650e4151c2255f9a205e9dce9c359b4e3335254f6b9aff8fe872c76b")
    private static let wrappedKey = hex(
        "03000000dae69b6f38b9b81892fe29a323dabe48205d1949a0c4a74ef937ef83e96f1b64eb8dda2208fba5a6")
    private static let ciphertext = hex("50eb8d93900f3e72ddf72f2c972baa4d3767553fa748b3f0d8e49d107750a38a")
    private static let plaintext = Array("sixteen bytes, 1sixteen bytes, 2".utf8)
    private static let quick = BackupIterations(outer: 3, inner: 2)!

    @Test("A keybag, a file's key and content from an independent computation are opened")
    func knownAnswer() throws {
        let keys = try BackupKeybag(decoding: Self.known).open(password: Array("password".utf8))
        let cipher = try #require(keys.decryption(wrappedKey: Self.wrappedKey))
        #expect(transform(Self.ciphertext, cipher) == Self.plaintext)
        // From the second block on, with the first as the vector.
        let second = try #require(
            keys.decryption(wrappedKey: Self.wrappedKey, vector: Array(Self.ciphertext.prefix(16))))
        #expect(transform(Array(Self.ciphertext.suffix(16)), second) == Self.plaintext.suffix(16))
    }

    @Test("Content encrypted under a new keybag is decrypted after reading the keybag again, in any pieces")
    func roundTrip() throws {
        let (keybag, keys) = BackupKeybag.create(password: [1, 2], iterations: Self.quick)
        let opened = try BackupKeybag(decoding: keybag.encoded).open(password: [1, 2])
        for number in UInt32(1)...11 {
            let (cipher, wrappedKey) = try #require(keys.encryption(class: number))
            #expect(wrappedKey.prefix(4) == [UInt8(number), 0, 0, 0])
            let first = transform(Array(Self.plaintext.prefix(16)), cipher)
            let second = transform(Array(Self.plaintext.suffix(16)), cipher)
            let decryption = try #require(opened.decryption(wrappedKey: wrappedKey))
            #expect(transform(first + second, decryption) == Self.plaintext)
        }
        #expect(keys.encryption(class: 12) == nil)
    }

    @Test("No two files have one key, and no two keybags")
    func freshKeys() throws {
        let (keybag, keys) = BackupKeybag.create(password: [], iterations: Self.quick)
        let (other, _) = BackupKeybag.create(password: [], iterations: Self.quick)
        #expect(keybag != other)
        let (first, second) = (try #require(keys.encryption(class: 3)), try #require(keys.encryption(class: 3)))
        #expect(first.wrappedKey != second.wrappedKey)
        #expect(transform(Self.plaintext, first.cipher) != transform(Self.plaintext, second.cipher))
    }

    @Test("Another password opens nothing")
    func wrongPassword() throws {
        let (keybag, _) = BackupKeybag.create(password: [1, 2], iterations: Self.quick)
        for password in [[], [1], [1, 2, 3], [2, 1]] as [[UInt8]] {
            #expect(throws: BackupKeybagFault.wrongPassword) { _ = try keybag.open(password: password) }
        }
    }

    @Test("A keybag that was cut is refused, wherever it was cut")
    func cut() {
        for count in 0..<Self.known.count {
            #expect(throws: BackupKeybagFault.damaged) {
                _ = try BackupKeybag(decoding: Array(Self.known.prefix(count)))
            }
        }
    }

    @Test("A wrapped key that was changed, or names another class, is refused")
    func changedKey() throws {
        let keys = try BackupKeybag(decoding: Self.known).open(password: Array("password".utf8))
        for place in Self.wrappedKey.indices {
            var changed = Self.wrappedKey
            changed[place] ^= 4
            #expect(keys.decryption(wrappedKey: changed) == nil)
        }
        #expect(keys.decryption(wrappedKey: Array(Self.wrappedKey.dropLast())) == nil)
        #expect(keys.decryption(wrappedKey: []) == nil)
    }

    @Test("Counts of iterations that would keep a reader busy for hours are refused")
    func excessiveIterations() throws {
        #expect(BackupIterations(outer: 20_000_001, inner: 1) == nil)
        #expect(BackupIterations(outer: 1, inner: 1_000_001) == nil)
        #expect(BackupIterations(outer: 0, inner: 1) == nil && BackupIterations(outer: 1, inner: 0) == nil)
        for (tag, value) in [("DPIC", [0xFF, 0, 0, 0]), ("ITER", [0, 0xFF, 0, 0]), ("DPIC", [0, 0, 0, 0])] {
            var changed = Self.known
            let place = try #require(changed.indices.first { changed[$0...].starts(with: tag.utf8) }) + 8
            changed.replaceSubrange(place..<place + 4, with: value.map { UInt8($0) })
            #expect(throws: BackupKeybagFault.excessiveIterations) { _ = try BackupKeybag(decoding: changed) }
        }
    }

    private func transform(_ bytes: [UInt8], _ cipher: BackupCipher) -> [UInt8] {
        let buffer = PageBuffer(count: bytes.count)
        buffer.copy(bytes, to: 0)
        cipher.transform(buffer, at: 0, count: bytes.count)
        return buffer.bytes(0, count: bytes.count)
    }
}
