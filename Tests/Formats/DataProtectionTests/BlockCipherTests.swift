// The sealing of blocks and pages.

import Platform
import Testing

@testable import DataProtection

@Suite("Sealing of blocks")
struct BlockCipherTests {
    private let cipher = BlockCipher()
    private let key = FileKey(SecretCell.random())
    private let other = FileKey(SecretCell.random())
    private let binding = BlockCipher.Binding(domain: 2, fileID: (5, 6), index: 7, length: 4096)

    private func sealed(_ plain: [UInt8], _ target: PageBuffer, _ slot: PageBuffer, at slotOffset: Int = 40) {
        let source = PageBuffer(count: max(plain.count, 1))
        source.copy(plain, to: 0)
        source.withBytes(0, count: plain.count) {
            cipher.seal($0, key: key, binding: binding, into: .init(target, 0), slot: .init(slot, slotOffset))
        }
    }

    @Test("A block equals an independent computation: the binding's bytes are part of the format")
    func knownAnswer() {
        let key = FileKey(SecretCell(copying: hex(String(repeating: "feffe9928665731c6d6a8f9467308308", count: 2))))
        let binding = BlockCipher.Binding(
            domain: 2, fileID: (0x0102_0304_0506_0708, 0x1112_1314_1516_1718), index: 77, length: 300)
        let buffer = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        buffer.copy((0..<300).map { UInt8(truncatingIfNeeded: $0) }, to: 0)
        slot.copy(hex("cafebabefacedbaddecaf888"), to: 8)
        buffer.withBytes(0, count: 300) {
            cipher.seal($0, key: key, binding: binding, into: .init(buffer, 0), nonceAndTag: .init(slot, 8))
        }
        #expect(buffer.bytes(0, count: 16) == hex("8b1df1d665d77de5592f346d897c6ae8"))
        #expect(slot.bytes(20, count: 16) == hex("dfeff657dd6e26a01cc97810991b6b95"))
        #expect(buffer.isZero(300, count: 3796))
    }

    @Test("A sealed block opens again, at every length around a block", arguments: [0, 1, 15, 16, 17, 4095, 4096])
    func roundTrip(length: Int) {
        let plain = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        let target = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        sealed(plain, target, slot)
        if length > 15 { #expect(target.bytes(0, count: length) != plain) }
        #expect(cipher.open(.inPlace(target), count: length, key: key, binding: binding, slot: .init(slot, 40)))
        #expect(target.bytes(0, count: length) == plain)
    }

    @Test("A block opens nowhere but in its place: file, index, length, use and key are all bound")
    func bound() {
        var elsewhere: [BlockCipher.Binding] = []
        elsewhere.append(.init(domain: 3, fileID: (5, 6), index: 7, length: 4096))
        elsewhere.append(.init(domain: 2, fileID: (4, 6), index: 7, length: 4096))
        elsewhere.append(.init(domain: 2, fileID: (5, 7), index: 7, length: 4096))
        elsewhere.append(.init(domain: 2, fileID: (5, 6), index: 8, length: 4096))
        elsewhere.append(.init(domain: 2, fileID: (5, 6), index: 7, length: 4095))
        let target = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        for wrong in elsewhere {
            sealed([UInt8](repeating: 9, count: 4096), target, slot)
            #expect(!cipher.open(.inPlace(target), count: 4096, key: key, binding: wrong, slot: .init(slot, 40)))
        }
        sealed([UInt8](repeating: 9, count: 4096), target, slot)
        #expect(!cipher.open(.inPlace(target), count: 4096, key: other, binding: binding, slot: .init(slot, 40)))
    }

    @Test("A block with a changed bit in ciphertext, nonce or tag does not open, and leaves zeros")
    func changed() {
        let target = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        for byte in [0, 1, 15, 16, 2048, 4095] {
            sealed([UInt8](repeating: 9, count: 4096), target, slot)
            target.store(target.load(UInt8.self, at: byte) ^ 0x10, at: byte)
            #expect(!cipher.open(.inPlace(target), count: 4096, key: key, binding: binding, slot: .init(slot, 40)))
            #expect(target.isZero(0, count: 4096))
        }
        for byte in 40..<68 {
            sealed([UInt8](repeating: 9, count: 4096), target, slot)
            slot.store(slot.load(UInt8.self, at: byte) ^ 1, at: byte)
            #expect(!cipher.open(.inPlace(target), count: 4096, key: key, binding: binding, slot: .init(slot, 40)))
        }
    }

    @Test("Only the slot's 28 bytes are written, and no two nonces are alike")
    func nonces() {
        let target = PageBuffer(count: 4096)
        let slot = PageBuffer(count: 4096)
        var seen = Set<[UInt8]>()
        for _ in 0..<2000 {
            sealed([1], target, slot)
            seen.insert(slot.bytes(40, count: 12))
        }
        #expect(seen.count == 2000)
        #expect(slot.isZero(0, count: 40))
        #expect(slot.isZero(68, count: 4096 - 68))
    }

    @Test("The schedule follows the key from block to block, and is gone after a wipe")
    func schedules() {
        let (one, two) = (PageBuffer(count: 4096), PageBuffer(count: 4096))
        let (slotOne, slotTwo) = (PageBuffer(count: 4096), PageBuffer(count: 4096))
        for _ in 0..<3 {
            one.copy([1, 2, 3], to: 0)
            two.copy([4, 5, 6], to: 0)
            one.withBytes(0, count: 3) {
                cipher.seal($0, key: key, binding: binding, into: .init(one, 0), slot: .init(slotOne, 0))
            }
            two.withBytes(0, count: 3) {
                cipher.seal($0, key: other, binding: binding, into: .init(two, 0), slot: .init(slotTwo, 0))
            }
            cipher.wipe()
            #expect(cipher.open(.inPlace(two), count: 3, key: other, binding: binding, slot: .init(slotTwo, 0)))
            #expect(cipher.open(.inPlace(one), count: 3, key: key, binding: binding, slot: .init(slotOne, 0)))
            #expect(one.bytes(0, count: 3) == [1, 2, 3])
            #expect(two.bytes(0, count: 3) == [4, 5, 6])
        }
    }

    @Test("Pieces before and after a tag are authenticated and stay readable")
    func authentication() {
        let page = PageBuffer(count: 4096)
        page.copy((0..<4096).map { UInt8(truncatingIfNeeded: $0) }, to: 0)
        let ranges = ((offset: 0, count: 100), (offset: 128, count: 3968))
        cipher.authenticate(page, ranges: ranges, key: key, binding: binding, tagAt: 100)
        #expect(page.bytes(0, count: 100) == (0..<100).map { UInt8($0) })
        #expect(cipher.verify(page, ranges: ranges, key: key, binding: binding, tagAt: 100))
        for byte in [0, 99, 100, 111, 112, 127, 128, 4095] {
            page.store(page.load(UInt8.self, at: byte) ^ 1, at: byte)
            #expect(!cipher.verify(page, ranges: ranges, key: key, binding: binding, tagAt: 100), "byte \(byte)")
            page.store(page.load(UInt8.self, at: byte) ^ 1, at: byte)
        }
        #expect(cipher.verify(page, ranges: ranges, key: key, binding: binding, tagAt: 100))
        #expect(!cipher.verify(page, ranges: ranges, key: other, binding: binding, tagAt: 100))
        let shifted = ((offset: 0, count: 99), (offset: 128, count: 3968))
        #expect(!cipher.verify(page, ranges: shifted, key: key, binding: binding, tagAt: 100))
    }

    @Test("A piece may be empty, and no byte moves from one piece to the other")
    func pieces() {
        let page = PageBuffer(count: 4096)
        cipher.authenticate(page, ranges: ((64, 32), (0, 0)), key: key, binding: binding, tagAt: 0)
        #expect(cipher.verify(page, ranges: ((64, 32), (0, 0)), key: key, binding: binding, tagAt: 0))
        #expect(!cipher.verify(page, ranges: ((64, 16), (80, 16)), key: key, binding: binding, tagAt: 0))
        #expect(!cipher.verify(page, ranges: ((0, 0), (64, 32)), key: key, binding: binding, tagAt: 0))
    }
}

extension BlockCipher.Route {
    /// The way of a block that is decrypted at the beginning of a buffer.
    static func inPlace(_ buffer: PageBuffer) -> Self { Self(from: .init(buffer, 0), to: .init(buffer, 0)) }
}
