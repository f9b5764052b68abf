// The encoding of the list of digests. Numbers are little-endian; an authentication code over all of it comes last.

public import DataProtection
import Platform
import SandboxModel

extension BundleDigests {
    private static let magic = Array("ACDIGEST".utf8)
    private static let version: UInt32 = 1
    private static let digestLength = 32

    /// The bytes of the list, in the layout of Format.md ("A bundle").
    ///
    /// Magic, version and number of entries come first. An entry is kind (the raw value of ``FileStatus/Kind``), mode,
    /// time in nanoseconds since 1970, and path, then what its kind adds. Paths and link targets have their length
    /// before them.
    /// - Parameter key: of this device and this bundle's container.
    public func encoded(_ key: BundleKey) -> [UInt8] {
        var bytes = BundleDigests.magic
        bytes.append(number: BundleDigests.version)
        bytes.append(number: UInt32(entries.count))
        for entry in entries {
            let path = entry.path.joined
            bytes.append(entry.kind.rawValue)
            bytes.append(number: UInt16(entry.permissions))
            bytes.append(number: entry.modified.nanoseconds)
            bytes.append(number: UInt32(path.count))
            bytes += path
            switch entry.content {
            case .directory: break
            case .symbolicLink(let target):
                bytes.append(number: UInt32(target.count))
                bytes += target
            case .file(let file):
                bytes.append(number: file.size)
                bytes.append(number: file.treeOffset)
                bytes += file.digest
                bytes.append(number: file.trace.inode)
                bytes.append(number: file.trace.modified.nanoseconds)
                bytes.append(number: file.trace.changed.nanoseconds)
            }
        }
        return bytes + key.authenticationCode(over: bytes)
    }

    /// Decodes the list. The code is compared before anything is parsed, so that bytes of others do not reach the
    /// parser.
    /// - Returns: nil unless this device wrote the bytes for this bundle.
    public init?(decoding bytes: [UInt8], _ key: BundleKey) {
        let length = bytes.count - BundleKey.codeLength
        guard length > 0 else { return nil }
        let content = Array(bytes[..<length])
        guard key.isAuthentic(Array(bytes[length...]), over: content) else { return nil }
        // Authentic from here on, but still checked for bounds.
        var reader = ByteReader(content)
        guard reader.bytes(BundleDigests.magic.count) == BundleDigests.magic,
            reader.number(UInt32.self) == BundleDigests.version, let count = reader.number(UInt32.self)
        else { return nil }
        var entries: [Entry] = []
        for _ in 0..<count {
            guard let entry = BundleDigests.entry(&reader) else { return nil }
            entries.append(entry)
        }
        guard reader.isAtEnd, let first = entries.first, first.path.isEmpty, first.content == .directory else {
            return nil
        }
        self.entries = entries
    }

    /// Decodes an entry.
    /// - Returns: nil for a kind that no bundle has, and beyond the end of the bytes.
    private static func entry(_ reader: inout ByteReader) -> Entry? {
        guard let kind = reader.number(UInt8.self).flatMap(FileStatus.Kind.init), let mode = reader.number(UInt16.self),
            let modified = reader.number(Int64.self), let pathLength = reader.number(UInt32.self),
            let names = reader.bytes(Int(pathLength)).flatMap({ [FileName](joined: $0) })
        else { return nil }
        let content: Content
        switch kind {
        case .directory: content = .directory
        case .symbolicLink:
            guard let length = reader.number(UInt32.self), let target = reader.bytes(Int(length)) else { return nil }
            content = .symbolicLink(target: target)
        case .file:
            guard let size = reader.number(Int64.self), size >= 0, let tree = reader.number(Int64.self), tree >= 0,
                let digest = reader.bytes(digestLength), let inode = reader.number(UInt64.self),
                let written = reader.number(Int64.self), let changed = reader.number(Int64.self)
            else { return nil }
            content = .file(
                File(
                    size: size, treeOffset: tree, digest: digest,
                    trace: Trace(
                        inode: inode, modified: HostTime(nanoseconds: written),
                        changed: HostTime(nanoseconds: changed))))
        case .fifo, .socket, .device: return nil
        }
        return Entry(
            path: names, permissions: UInt32(mode) & 0o7777, modified: HostTime(nanoseconds: modified),
            content: content)
    }
}

extension [UInt8] {
    /// Appends a number, little-endian, in as many bytes as its type has.
    fileprivate mutating func append(number: some FixedWidthInteger) {
        for byte in 0..<(number.bitWidth / 8) { append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
    }
}

/// Reads numbers and bytes in order, and nil beyond the end. A failed read consumes nothing.
private struct ByteReader {
    private let content: [UInt8]
    private var position = 0

    init(_ content: [UInt8]) {
        self.content = content
    }

    var isAtEnd: Bool { position == content.count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= content.count - position else { return nil }
        defer { position += count }
        return Array(content[position..<position + count])
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let width = Number.bitWidth / 8
        guard width <= content.count - position else { return nil }
        var number: Number = 0
        for byte in 0..<width { number |= Number(truncatingIfNeeded: content[position + byte]) << (8 * byte) }
        position += width
        return number
    }
}
