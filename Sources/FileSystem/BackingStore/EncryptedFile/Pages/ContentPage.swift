// The pages of an encrypted file that hold no content: tag pages, the first of which is also the header, and map pages.
// Field offsets are those of Format.md.

import DataProtection
import Platform
import SandboxModel

/// One block's seal in its tag page: nonce and tag (``BlockCipher/slotLength`` bytes), then the number of valid bytes
/// (2).
struct Slot {
    static let size = lengthOffset + 2
    /// Offset in the slot of the number of valid bytes.
    static let lengthOffset = BlockCipher.slotLength
    /// Offset of the slot in the page.
    let offset: Int
    /// Valid bytes of the block; 0 for an empty slot.
    let length: Int
}

/// A tag page, the header or a map page in memory. Guarded by the lock of the file that it belongs to.
///
/// A tag page has two slots for each block, so that the block before the last write still opens if that write never
/// arrived. A bit for each block tells which slot is current.
final class ContentPage: @unchecked Sendable {
    enum Kind: UInt8 {
        case header = 1
        case tags = 2
        case map = 3
    }

    static let size = ContentLayout.pageSize

    let bytes = PageBuffer(count: ContentPage.size)
    /// The number of the group, or of the map.
    fileprivate(set) var number = 0
    /// A bit for each block whose older slot recovery made current, because its last write never arrived.
    private(set) var turnedBack: UInt64 = 0

    /// Byte offsets of the fields that every page has.
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

    /// The bytes that the page's own seal covers: all but the seal.
    static let sealedRanges = ((0, Field.seal), (Field.sealEnd, size - Field.sealEnd))
    static let sealOffset = Field.seal

    /// Makes this an empty page.
    func reset(_ kind: Kind, number: Int) {
        bytes.zero(0, count: ContentPage.size)
        bytes.store(ContentPage.magic, at: Field.magic)
        bytes.store(kind.rawValue, at: Field.kind)
        name(number)
    }

    /// Sets the number of the page that was read into the buffer.
    func name(_ number: Int) {
        self.number = number
        turnedBack = 0
    }

    /// Whether magic and kind are right, and the fields are possible that are used as lengths. Says nothing of the
    /// seal, which proves no more than that the writer had the key.
    func isWellFormed(_ kind: Kind) -> Bool {
        guard bytes.load(UInt32.self, at: Field.magic) == ContentPage.magic,
            bytes.load(UInt8.self, at: Field.kind) == kind.rawValue
        else { return false }
        return switch kind {
        case .header: (0...ContentLayout.maximumLength).contains(length) && slotsArePossible
        case .tags: slotsArePossible
        case .map: true
        }
    }

    /// Whether no slot is of more bytes than a block has.
    private var slotsArePossible: Bool {
        // No closure: it would allocate where the compiler does not optimize.
        for index in 0..<2 * ContentLayout.blocksPerGroup {
            let length = bytes.load(UInt16.self, at: Field.slots + index * Slot.size + Slot.lengthOffset)
            if length > UInt16(ContentLayout.blockSize) { return false }
        }
        return true
    }

    var isZero: Bool { bytes.isZero(0, count: ContentPage.size) }

    /// Whether every field has a value that the format has for it, and zeros lie where it has none. Says nothing of the
    /// seal.
    func hasForm(of kind: Kind) -> Bool {
        guard isWellFormed(kind), bytes.isZero(Field.kind + 1, count: Field.session - Field.kind - 1),
            bytes.isZero(Field.session + 4, count: Field.current - Field.session - 4)
        else { return false }
        switch kind {
        case .header: return hasHeaderForm && hasSlotForm
        case .tags: return bytes.isZero(Field.sealEnd, count: Field.slots - Field.sealEnd) && hasSlotForm
        case .map: return hasMapForm
        }
    }

    /// Whether no slot has more valid bytes than a block.
    private var hasSlotForm: Bool {
        (0..<ContentLayout.blocksPerGroup).allSatisfy { index in
            current(index).length <= ContentLayout.blockSize && previous(index).length <= ContentLayout.blockSize
        }
    }

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
        return Slot(offset: start, length: Int(bytes.load(UInt16.self, at: start + Slot.lengthOffset)))
    }

    /// The slot of the last write.
    func current(_ index: Int) -> Slot { slot(index, currentBit(index)) }

    /// The slot of the write before the last.
    func previous(_ index: Int) -> Slot { slot(index, 1 - currentBit(index)) }

    /// Makes the older slot current, for a block of `length` valid bytes that is about to be sealed there.
    func advance(_ index: Int, length: Int) -> Slot {
        flip(index)
        let next = current(index)
        bytes.store(UInt16(length), at: next.offset + Slot.lengthOffset)
        return Slot(offset: next.offset, length: length)
    }

    /// Marks a hole whose bytes were refused: a slot with a length but neither nonce nor tag, which opens nothing.
    func refuse(_ index: Int, length: Int) {
        let slot = current(index)
        bytes.zero(slot.offset, count: Slot.size)
        bytes.store(UInt16(length), at: slot.offset + Slot.lengthOffset)
    }

    /// Whether a block is marked by ``refuse(_:length:)``.
    func isRefused(_ index: Int) -> Bool {
        let slot = current(index)
        return slot.length > 0 && bytes.isZero(slot.offset, count: Slot.lengthOffset)
    }

    /// Makes the older slot current again.
    func turnBack(_ index: Int) {
        flip(index)
        turnedBack |= 1 << UInt64(index)
    }

    private func flip(_ index: Int) {
        bytes.store(bytes.load(UInt64.self, at: Field.current) ^ 1 << UInt64(index), at: Field.current)
    }

    /// Makes blocks holes: empties both slots.
    func clear(_ indices: Range<Int>) {
        guard !indices.isEmpty else { return }
        bytes.zero(Field.slots + indices.lowerBound * 2 * Slot.size, count: indices.count * 2 * Slot.size)
    }

    func isClear(_ indices: Range<Int>) -> Bool {
        bytes.isZero(Field.slots + indices.lowerBound * 2 * Slot.size, count: indices.count * 2 * Slot.size)
    }
}

/// The fields of the header.
extension ContentPage {
    /// Byte offsets and, of the key, the capacity of the header's fields.
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
        static let end = 256
    }

    static let formatVersion: UInt16 = 1

    var version: UInt16 { bytes.load(UInt16.self, at: HeaderField.version) }

    /// Whether length and holes are changing. After a crash recovery then finds them from the pages.
    var isOpen: Bool {
        get { flag(0) }
        set { setFlag(0, newValue) }
    }

    /// Whether there may be holes below the length. Maps then name the groups that exist.
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

    /// Length of the content in bytes; while ``isOpen``, the length before.
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

    /// The number of the class; not authenticated before the page's seal is verified.
    var protectionRawValue: UInt8 { bytes.load(UInt8.self, at: HeaderField.protection) }

    /// The wrapped key with its class; nil if this is no header of the known version, or its fields are impossible.
    var wrappedKey: WrappedFileKey? {
        let length = Int(bytes.load(UInt8.self, at: HeaderField.keyLength))
        guard isWellFormed(.header), version == ContentPage.formatVersion,
            let protection = ProtectionClass(rawValue: protectionRawValue),
            (1...HeaderField.keyCapacity).contains(length)
        else { return nil }
        return WrappedFileKey(protection: protection, blob: bytes.bytes(HeaderField.key, count: length))
    }

    /// Sets class, wrapped key and version. The seal is then out of date.
    func setKey(_ key: WrappedFileKey) {
        precondition(key.blob.count <= HeaderField.keyCapacity)
        bytes.store(key.protection.rawValue, at: HeaderField.protection)
        bytes.store(UInt8(key.blob.count), at: HeaderField.keyLength)
        bytes.zero(HeaderField.key, count: HeaderField.keyCapacity)
        bytes.copy(key.blob, to: HeaderField.key)
        bytes.store(ContentPage.formatVersion, at: HeaderField.version)
    }

    fileprivate var hasHeaderForm: Bool {
        guard let key = wrappedKey, key.blob.count == WrappedFileKey.blobLength(key.protection),
            bytes.load(UInt8.self, at: HeaderField.flags) & ~0b11 == 0,
            (0...ContentLayout.maximumLength).contains(length)
        else { return false }
        let keyEnd = HeaderField.key + key.blob.count
        let mapsEnd = HeaderField.maps + ContentLayout.maximumMaps / 8
        return bytes.isZero(keyEnd, count: HeaderField.maps - keyEnd)
            && bytes.isZero(mapsEnd, count: HeaderField.end - mapsEnd)
    }

    /// Whether a map page exists, of a sparse file.
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

/// The bits of a map page, one for each group that it covers.
extension ContentPage {
    private static let mapBits = 64

    /// Whether a group exists.
    /// - Parameter index: the group's place among those of the map.
    func hasGroup(_ index: Int) -> Bool {
        bytes.load(UInt8.self, at: ContentPage.mapBits + index / 8) >> UInt8(index % 8) & 1 == 1
    }

    /// The first group that exists, from an index on; nil if there is none.
    func firstGroup(from index: Int) -> Int? {
        var index = index
        while index < ContentLayout.groupsPerMap {
            if index % 64 == 0, bytes.load(UInt64.self, at: ContentPage.mapBits + index / 8) == 0 {
                index += 64
            } else if hasGroup(index) {
                return index
            } else {
                index += 1
            }
        }
        return nil
    }

    func setGroup(_ index: Int, _ present: Bool) {
        let offset = ContentPage.mapBits + index / 8
        let bits = bytes.load(UInt8.self, at: offset)
        let bit = UInt8(1) << UInt8(index % 8)
        bytes.store(present ? bits | bit : bits & ~bit, at: offset)
    }

    fileprivate var hasMapForm: Bool {
        let end = ContentPage.mapBits + ContentLayout.groupsPerMap / 8
        return bytes.isZero(ContentPage.sealOffset + BlockCipher.slotLength, count: 12)
            && bytes.isZero(end, count: ContentPage.size - end)
    }

    /// Whether the map names no group.
    var namesNoGroup: Bool {
        bytes.isZero(ContentPage.mapBits, count: ContentLayout.groupsPerMap / 8)
    }
}

/// 128 random bits in a file's header. Every seal of the file is bound to them.
struct FileIdentity: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil unless the text is a ``text``.
    init?(_ text: String) {
        guard let bytes = [UInt8](hexadecimal: Array(text.utf8)[...]), bytes.count == 16 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    /// 32 hexadecimal digits.
    var text: String {
        [high, low].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }.hexadecimal
    }

    static func random() -> FileIdentity {
        FileIdentity(high: RandomBatch.shared.number(), low: RandomBatch.shared.number())
    }
}
