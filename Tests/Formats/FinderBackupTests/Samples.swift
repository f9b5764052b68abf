// Backups for tests: entries with their content, written and read.

import BackupModel
import DataProtection
import FinderBackup
import Glibc
import HashFunctions
import SandboxModel
import TestSupport
import Testing

/// An entry with its content, for comparison.
struct Item: Equatable, CustomStringConvertible {
    var entry: BackupEntry
    /// The content with holes as zeros; nil for an entry without content.
    var content: [UInt8]?

    var description: String { "\(entry.domain.name)/\(entry.path.text) \(entry.kind)" }

    static func == (left: Item, right: Item) -> Bool {
        let (one, two) = (left.entry, right.entry)
        let sameKind =
            switch (one.kind, two.kind) {
            // The places of holes depend on the host.
            case (.file(.plain(let length, _)), .file(.plain(let other, _))): length == other
            case (let one, let two): one == two
            }
        return sameKind && one.domain == two.domain && one.path == two.path && one.permissions == two.permissions
            && one.owner == two.owner && one.group == two.group
            && one.modificationTime.tv_sec == two.modificationTime.tv_sec
            && one.modificationTime.tv_nsec == two.modificationTime.tv_nsec && one.protection == two.protection
            && one.isExcluded == two.isExcluded && one.attributes == two.attributes && left.content == right.content
    }

    static func path(_ text: String) -> [FileName] { text.split(separator: "/").map { FileName(String($0))! } }

    static let notes = BackupDomain.app(ContainerIdentifier("com.example.Notes")!)
    static let group = BackupDomain.group(ContainerIdentifier("group.com.example")!)

    init(_ entry: BackupEntry, _ content: [UInt8]?) {
        (self.entry, self.content) = (entry, content)
    }

    init(
        _ path: String, _ kind: BackupEntry.Kind = .directory, content: [UInt8]? = nil,
        domain: BackupDomain = Item.notes, permissions: mode_t? = nil, protection: ProtectionClass? = nil,
        isExcluded: Bool = false, attributes: [BackupEntry.Attribute] = []
    ) {
        entry = BackupEntry(
            domain: domain, path: Item.path(path), kind: kind,
            permissions: permissions ?? (kind == .directory ? 0o755 : 0o644), owner: 501, group: 20,
            modificationTime: timespec(tv_sec: 1_700_000_000, tv_nsec: 123_456_789), protection: protection,
            isExcluded: isExcluded, attributes: attributes)
        self.content = content
    }

    /// A file without holes.
    static func file(
        _ path: String, _ content: [UInt8], domain: BackupDomain = Item.notes, protection: ProtectionClass = .standard,
        isExcluded: Bool = false, attributes: [BackupEntry.Attribute] = []
    ) -> Item {
        let length = Int64(content.count)
        return Item(
            path, .file(.plain(length: length, data: length > 0 ? [0..<length] : [])), content: content,
            domain: domain, protection: protection, isExcluded: isExcluded, attributes: attributes)
    }
}

enum Sample {
    static let device = FinderBackupDevice(name: "Test", identifier: "00008030-TEST", hasPasscode: true)
    static let date = timespec(tv_sec: 1_750_000_000, tv_nsec: 500_000_000)
    static let quick = BackupIterations(outer: 10, inner: 3)!
    static let encryption = FinderBackupSink.Encryption(password: Array("kuckuck ü".utf8), iterations: quick)

    static let apps = [
        BackupApp(
            identifier: ContainerIdentifier("com.example.Notes")!, name: "Notes", version: "1.2",
            groups: [ContainerIdentifier("group.com.example")!], owner: 501, ownerGroup: 20)
    ]

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return generator.bytes(count)
    }

    private static func attribute(_ name: String, _ value: [UInt8]) -> BackupEntry.Attribute {
        BackupEntry.Attribute(name: Array(name.utf8), value: value)
    }

    /// Every kind of entry, in the order of a walk.
    static let items: [Item] = {
        var holey = [UInt8](repeating: 0, count: 3 << 20)
        holey.replaceSubrange(65_536..<65_546, with: bytes(10))
        holey.replaceSubrange((2 << 20)..<(2 << 20) + 5000, with: bytes(5000))
        let odd = FileName([0x66, 0xFF, 0x66])!
        var items = [
            Item("", permissions: 0o700),
            Item("Documents", protection: .complete, attributes: [attribute("user.com.example.tag", [1, 2, 3])]),
            .file("Documents/a", Array("hello".utf8), protection: .complete),
            Item("Documents/a.d"),
            .file("Documents/a.d/deep", bytes(100_000), protection: .completeUnlessOpen),
            // In a walk it follows the content of the directory before it, though its path sorts before that content.
            .file("Documents/a.d-", bytes(16), protection: .none),
            .file("Documents/empty", []),
            .file("Documents/exact", bytes(ContentSize.buffer), protection: .complete),
            .file(
                "Documents/excluded", bytes(31), isExcluded: true,
                attributes: [
                    // The last two are the same text to Unicode, and two names.
                    attribute("user.a", []), attribute("user.u\u{308}", Array("y".utf8)),
                    attribute("user.\u{FC}", Array("x".utf8)),
                    BackupEntry.Attribute(name: Array("user.".utf8) + [0xFF], value: [9]),
                ]),
            Item(
                "Documents/holes",
                .file(
                    .plain(
                        length: 3 << 20,
                        data: [65_536..<65_546, Int64(2 << 20)..<Int64((2 << 20) + 5000)])),
                content: holey, protection: .standard),
            Item("Documents/link", .symbolicLink(Array("../../elsewhere".utf8)), permissions: 0o777),
            Item("Documents/link2", .symbolicLink([0x2F, 0xFE]), permissions: 0o777),
            Item("Documents/pipe", .fifo, permissions: 0o600),
            Item("Documents/second", .hardLink(Item.path("Documents/a")), protection: .complete),
            Item("Documents/socket", .socket),
            Item("Documents/zu", protection: .standard),
            .file("Documents/\u{FC}ber", bytes(257, seed: 3)),
            .file(
                "Library", bytes(3),
                attributes: [attribute("user.big", bytes(60_000)), attribute("user.large", bytes(50_000))]),
            Item(
                "sealed", .file(.sealed(length: 5000, keybag: bytes(16, seed: 8))), content: bytes(5000, seed: 9),
                protection: .complete),
            Item("", domain: Item.group),
            .file("only", bytes(77), domain: Item.group),
        ]
        var future = Item.file("Documents/future", bytes(9))
        future.entry.modificationTime = timespec(tv_sec: 1 << 40, tv_nsec: 1)
        items.append(future)
        // A name that is not UTF-8.
        var file = Item.file("Documents/f", bytes(40, seed: 5))
        file.entry.path = ["Documents", odd]
        items.append(file)
        items.sort { one, two in
            let (one, two) = (one.entry, two.entry)
            if one.domain != two.domain { return one.domain < two.domain }
            return one.path.lexicographicallyPrecedes(two.path) { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
        return items
    }()
}

/// Sizes around the limits of blocks and buffers.
enum ContentSize {
    static let buffer = 256 << 10
}

/// Writes items in the order of a walk.
func write(
    _ items: [Item], to path: String, encryption: FinderBackupSink.Encryption? = nil, since base: String? = nil
) throws -> Int {
    let sink = try FinderBackupSink(
        path: path, of: FinderBackupOrigin(apps: Sample.apps, device: Sample.device, date: Sample.date),
        encryption: encryption, since: base)
    var continued = 0
    for item in items {
        let digest = { () throws(Complaint) in item.digest }
        if base != nil, try sink.continues(item.entry, goOn: { true }, digest: digest) {
            continued += 1
            continue
        }
        try give(item, to: sink)
    }
    try sink.finish()
    return continued
}

extension Item {
    var digest: [UInt8]? {
        content.map { HashFunction.sha256.digest(of: $0) }
    }
}

func give(_ item: Item, to sink: FinderBackupSink) throws {
    try sink.begin(item.entry)
    guard case .file(let kind) = item.entry.kind, let content = item.content else { return }
    var ranges = [Int64(0)..<Int64(content.count)]
    if case .plain(_, let data) = kind { ranges = data }
    for range in ranges {
        // In pieces of an odd size.
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 70_001) {
            let piece = content[Int(start)..<Int(min(start + 70_001, range.upperBound))]
            unsafe try sink.write(Array(piece).span.bytes, at: start)
        }
    }
}

/// Reads all entries.
func read(
    _ path: String, password: [UInt8]? = nil, domains: Set<BackupDomain>? = nil
) throws -> [Item] {
    let source = try FinderBackupSource(path: path, password: password, domains: domains)
    return try read(source)
}

func read(_ source: FinderBackupSource) throws -> [Item] {
    var items: [Item] = []
    while let entry = try source.next() {
        var content: [UInt8]?
        if case .file(let kind) = entry.kind {
            var bytes = [UInt8](repeating: 0, count: Int(kind.length))
            var end: Int64 = 0
            try source.read { (piece, offset) throws(Complaint) in
                guard offset >= end else { throw Complaint(.unexpected, "content in no order") }
                end = offset + Int64(piece.byteCount)
                for index in 0..<piece.byteCount {
                    bytes[Int(offset) + index] = piece.unsafeLoadByte(index)
                }
            }
            content = bytes
        }
        items.append(Item(entry, content))
    }
    try source.verifyEnd()
    return items
}

extension RawSpan {
    fileprivate borrowing func unsafeLoadByte(_ index: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
}
