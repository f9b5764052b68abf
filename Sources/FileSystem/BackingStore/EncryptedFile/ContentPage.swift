// The pages of an encrypted file that are not content: tag pages, of which the first holds the header too, and
// map pages. Field offsets here are those of Format.md.

import Platform
import SandboxModel

/// One block's seal: which bytes of the block are valid, and the nonce and tag that authenticate them.
struct Slot {
    static let size = 30
    /// Offset of nonce and tag in the page, as ``BlockCipher`` wants it.
    let offset: Int
    /// Valid bytes of the block; 0 when nothing is there.
    let length: Int
}

/// A tag page in memory. Guarded by the lock of the file that it belongs to.
final class ContentPage: @unchecked Sendable {
    enum Kind: UInt8 {
        case header = 1
        case tags = 2
        case map = 3
    }

    static let size = PageBuffer.pageSize

    let bytes = PageBuffer(count: ContentPage.size)
    /// The group whose slots these are, or the number of the map.
    fileprivate(set) var number = 0
    /// Blocks whose slots were turned back, because the write that the newer one describes never arrived.
    private(set) var turnedBack: UInt64 = 0

    private enum Field {
        static let magic = 0
        static let kind = 4
        static let session = 8
        static let current = 16
        /// Nonce and tag of the page itself.
        static let seal = 24
        static let sealEnd = 52
        static let slots = 256
    }

    private static let magic: UInt32 = 0x3146_4341  // "ACF1"

    /// What the page's own seal covers: everything but the seal.
    static let sealedRanges = ((0, Field.seal), (Field.sealEnd, size - Field.sealEnd))
    static let sealOffset = Field.seal

    /// Makes this an empty page.
    func reset(_ kind: Kind, number: Int) {
        bytes.zero(0, count: ContentPage.size)
        bytes.store(ContentPage.magic, at: Field.magic)
        bytes.store(kind.rawValue, at: Field.kind)
        name(number)
    }

    /// Says which page was read into the buffer.
    func name(_ number: Int) {
        self.number = number
        turnedBack = 0
    }

    func isWellFormed(_ kind: Kind) -> Bool {
        bytes.load(UInt32.self, at: Field.magic) == ContentPage.magic
            && bytes.load(UInt8.self, at: Field.kind) == kind.rawValue
    }

    var isZero: Bool { bytes.isZero(0, count: ContentPage.size) }

    /// The session that wrote the page.
    var session: UInt32 {
        get { bytes.load(UInt32.self, at: Field.session) }
        set { bytes.store(newValue, at: Field.session) }
    }

    // MARK: Slots

    private func currentBit(_ index: Int) -> Int {
        Int(bytes.load(UInt64.self, at: Field.current) >> UInt64(index) & 1)
    }

    private func slot(_ index: Int, _ which: Int) -> Slot {
        let start = Field.slots + (index * 2 + which) * Slot.size
        return Slot(offset: start, length: Int(bytes.load(UInt16.self, at: start + 28)))
    }

    /// The seal that was written last.
    func current(_ index: Int) -> Slot { slot(index, currentBit(index)) }

    /// The seal before it: that of the block as it was before the last write, unless that write has arrived.
    func previous(_ index: Int) -> Slot { slot(index, 1 - currentBit(index)) }

    /// Turns the older slot into the current one, for a block of `length` bytes about to be sealed there.
    func advance(_ index: Int, length: Int) -> Slot {
        flip(index)
        let next = current(index)
        bytes.store(UInt16(length), at: next.offset + 28)
        return Slot(offset: next.offset, length: length)
    }

    /// Says of a hole that bytes for it were refused: a slot with neither nonce nor tag, which opens nothing.
    func refuse(_ index: Int, length: Int) {
        let slot = current(index)
        bytes.zero(slot.offset, count: Slot.size)
        bytes.store(UInt16(length), at: slot.offset + 28)
    }

    func isRefused(_ index: Int) -> Bool {
        let slot = current(index)
        return slot.length > 0 && bytes.isZero(slot.offset, count: Slot.size - 2)
    }

    /// Makes the older slot the current one.
    func turnBack(_ index: Int) {
        flip(index)
        turnedBack |= 1 << UInt64(index)
    }

    private func flip(_ index: Int) {
        bytes.store(bytes.load(UInt64.self, at: Field.current) ^ 1 << UInt64(index), at: Field.current)
    }

    /// Makes blocks holes: both slots empty.
    func clear(_ indices: Range<Int>) {
        guard !indices.isEmpty else { return }
        bytes.zero(Field.slots + indices.lowerBound * 2 * Slot.size, count: indices.count * 2 * Slot.size)
    }

    func isClear(_ indices: Range<Int>) -> Bool {
        bytes.isZero(Field.slots + indices.lowerBound * 2 * Slot.size, count: indices.count * 2 * Slot.size)
    }
}

/// The fields of a file's first page.
extension ContentPage {
    private enum HeaderField {
        static let version = 52
        static let protection = 54
        static let flags = 55
        static let length = 56
        static let identity = 64
        static let keyLength = 80
        static let key = 81
        static let keyCapacity = 72
        static let maps = 160
    }

    static let formatVersion: UInt16 = 1

    var version: UInt16 { bytes.load(UInt16.self, at: HeaderField.version) }

    /// Whether length and holes are being changed: then they are found from the pages themselves after a crash.
    var isOpen: Bool {
        get { flag(0) }
        set { setFlag(0, newValue) }
    }

    /// Whether there may be holes below the length: then maps say which groups exist.
    var isSparse: Bool {
        get { flag(1) }
        set { setFlag(1, newValue) }
    }

    private func flag(_ bit: UInt8) -> Bool {
        bytes.load(UInt8.self, at: HeaderField.flags) >> bit & 1 == 1
    }

    private func setFlag(_ bit: UInt8, _ value: Bool) {
        let flags = bytes.load(UInt8.self, at: HeaderField.flags)
        bytes.store(value ? flags | 1 << bit : flags & ~(1 << bit), at: HeaderField.flags)
    }

    /// Length of the content; while ``isOpen``, the length it had when it was opened.
    var length: Int64 {
        get { bytes.load(Int64.self, at: HeaderField.length) }
        set { bytes.store(newValue, at: HeaderField.length) }
    }

    var identity: FileIdentity {
        get {
            FileIdentity(
                high: bytes.load(UInt64.self, at: HeaderField.identity),
                low: bytes.load(UInt64.self, at: HeaderField.identity + 8))
        }
        set {
            bytes.store(newValue.high, at: HeaderField.identity)
            bytes.store(newValue.low, at: HeaderField.identity + 8)
        }
    }

    var protectionRawValue: UInt8 { bytes.load(UInt8.self, at: HeaderField.protection) }

    /// The wrapped key's bytes; nil when their length is impossible.
    var wrappedKeyBytes: [UInt8]? {
        let length = Int(bytes.load(UInt8.self, at: HeaderField.keyLength))
        guard (1...HeaderField.keyCapacity).contains(length) else { return nil }
        return bytes.bytes(HeaderField.key, count: length)
    }

    func setKey(protection: ProtectionClass, wrapped: [UInt8]) {
        precondition(wrapped.count <= HeaderField.keyCapacity)
        bytes.store(protection.rawValue, at: HeaderField.protection)
        bytes.store(UInt8(wrapped.count), at: HeaderField.keyLength)
        bytes.zero(HeaderField.key, count: HeaderField.keyCapacity)
        bytes.copy(wrapped, to: HeaderField.key)
        bytes.store(ContentPage.formatVersion, at: HeaderField.version)
    }

    func hasMap(_ map: Int) -> Bool {
        bytes.load(UInt8.self, at: HeaderField.maps + map / 8) >> UInt8(map % 8) & 1 == 1
    }

    func setMap(_ map: Int, _ present: Bool) {
        let offset = HeaderField.maps + map / 8
        let bits = bytes.load(UInt8.self, at: offset)
        let bit = UInt8(1) << UInt8(map % 8)
        bytes.store(present ? bits | bit : bits & ~bit, at: offset)
    }
}

/// The bits of a map page: one for each group that it covers.
extension ContentPage {
    private static let mapBits = 64

    func hasGroup(_ index: Int) -> Bool {
        bytes.load(UInt8.self, at: ContentPage.mapBits + index / 8) >> UInt8(index % 8) & 1 == 1
    }

    func setGroup(_ index: Int, _ present: Bool) {
        let offset = ContentPage.mapBits + index / 8
        let bits = bytes.load(UInt8.self, at: offset)
        let bit = UInt8(1) << UInt8(index % 8)
        bytes.store(present ? bits | bit : bits & ~bit, at: offset)
    }

    /// Whether the map names no group at all.
    var namesNoGroup: Bool {
        bytes.isZero(ContentPage.mapBits, count: ContentLayout.groupsPerMap / 8)
    }
}

/// 128 random bits that name a file's content for as long as it lives: every seal is bound to them.
struct FileIdentity: Equatable, Sendable {
    let high: UInt64
    let low: UInt64
}
