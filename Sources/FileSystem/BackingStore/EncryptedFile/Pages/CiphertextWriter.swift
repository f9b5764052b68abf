// Writing the backing file of an encrypted file whose key is not at hand: only bytes of its form reach the host.

import DataProtection
public import Platform
public import SandboxModel

/// Writes ciphertext that comes from outside, such as from a backup, page by page.
///
/// Ciphertext of a closed class cannot be decrypted, so its seals cannot be verified. But its form can: the header with
/// version, class, key and lengths, the tag pages and the maps, each in its place and with zeros where the format has
/// zeros. So no backing file begins with bytes of somebody else's choice, as a program would. One thread uses it.
public struct CiphertextWriter: ~Copyable {
    private let file: SharedDescriptor
    private let protection: ProtectionClass
    private let length: Int64
    /// Pages that are checked and not written yet, then a page in the making.
    private let buffer = PageBuffer(count: pagesAtOnce * ContentPage.size)
    private var filled = 0
    /// Offset in the backing file of the buffer.
    private var start: Int64 = 0

    private static let pagesAtOnce = 64

    /// - Parameters:
    ///   - file: new and empty, open for writing.
    ///   - length: of the backing file, in bytes.
    ///   - protection: the class that its header has to name.
    public init(_ file: SharedDescriptor, length: Int64, protection: ProtectionClass) {
        self.file = file
        self.length = length
        self.protection = protection
    }

    /// Takes the next bytes.
    /// - Throws: `corrupt` for a page that no encrypted file has there, and for more bytes than were announced; errors
    ///   of the host.
    public mutating func write(_ bytes: borrowing RawSpan) throws(Fault) {
        guard Int64(bytes.byteCount) <= length - start - Int64(filled) else { throw .corrupt }
        var taken = 0
        while taken < bytes.byteCount {
            let count = min(bytes.byteCount - taken, ContentPage.size - filled % ContentPage.size)
            buffer.copy(bytes.extracting(taken..<taken + count), to: filled)
            filled += count
            taken += count
            guard filled % ContentPage.size == 0 else { continue }
            try check(pageAt: filled - ContentPage.size, count: ContentPage.size)
            if filled == buffer.count { try flush() }
        }
    }

    /// Writes the rest.
    /// - Throws: `corrupt` where bytes are missing; otherwise as ``write(_:)``.
    public mutating func finish() throws(Fault) {
        guard start + Int64(filled) == length, length >= Int64(ContentPage.size),
            length <= ContentLayout.backingLength(of: ContentLayout.maximumLength)
        else { throw .corrupt }
        let rest = filled % ContentPage.size
        if rest > 0 { try check(pageAt: filled - rest, count: rest) }
        try flush()
    }

    private mutating func flush() throws(Fault) {
        let (file, buffer, count, place) = (file, buffer, filled, start)
        try onHost { () throws(SystemError) in try file.descriptor.write(from: buffer, count: count, to: place) }
        start += Int64(filled)
        filled = 0
    }

    /// - Parameter count: less than a page at the end of the file only.
    private func check(pageAt offset: Int, count: Int) throws(Fault) {
        let place = start + Int64(offset)
        guard let kind = ContentLayout.kind(ofPageAt: place) else { return }
        // A page that was never written is a hole of the host.
        if kind != .header, buffer.isZero(offset, count: count) { return }
        guard count == ContentPage.size else { throw .corrupt }
        let page = ContentPage()
        page.bytes.copy(from: buffer, at: offset, count: count, to: 0)
        guard page.hasForm(of: kind) else { throw .corrupt }
        if kind == .header, page.protectionRawValue != protection.rawValue { throw .corrupt }
    }
}

extension ContentLayout {
    /// The kind of the page at an offset in the backing file; nil for a block of content.
    static func kind(ofPageAt offset: Int64) -> ContentPage.Kind? {
        if offset == 0 { return .header }
        let group = group(atBackingOffset: offset)
        if offset == tagPageOffset(group: group) { return .tags }
        return offset == mapPageOffset(group / groupsPerMap) ? .map : nil
    }
}
