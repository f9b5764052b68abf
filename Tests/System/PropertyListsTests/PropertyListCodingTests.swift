// What Foundation decodes, and what its decoder is not let near.

import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct PropertyListCodingTests {
    private struct Sample: Codable, Equatable {
        var text: String?
        var texts: [String]?
        var data: Data?
        var flag: Bool?
        var number: Int?
        var date: Date?
        var more: [String: [String: String]]?
    }

    private static let sample = Sample(
        text: "\u{FC}\u{1F4F1} <&>", texts: ["a", "a"], data: Data([0, 1, 2]), flag: true, number: -3,
        date: Date(timeIntervalSinceReferenceDate: 700_000_000), more: ["a": ["b": "c"], "empty": [:]])

    private func isRead(_ bytes: [UInt8]) -> Bool {
        (try? PropertyListCoding.decode(Sample.self, from: bytes)) != nil
    }

    @Test(arguments: [PropertyListCoding.Format.xml, .binary])
    func whatIsWrittenIsRead(format: PropertyListCoding.Format) throws {
        let bytes = try PropertyListCoding.encode(Self.sample, as: format)
        #expect(try PropertyListCoding.decode(Sample.self, from: bytes) == Self.sample)
        #expect(bytes.starts(with: (format == .xml ? "<?xml" : "bplist00").utf8))
    }

    @Test(arguments: [
        "", "<plist>", "<plist></plist>", "<plist><dict><key>a</key></dict></plist>", "<plist><true/></plist>",
        "<plist><dict><key>text</key><string>a</dict></plist>", "<plist><dict><key>text</key><true/></dict></plist>",
        "<plist><dict><key>text</key><string>&undefined;</string></dict></plist>",
        "<plist><dict><key>number</key><integer>1x</integer></dict></plist>",
        "<!DOCTYPE plist [<!ENTITY a 'b'>]><plist><dict/></plist>",
        "<plist><array></dict></plist>", "<", "<!--",
        "bplist00", "{ text = a; }",
    ])
    func whatIsNoSuchListIsRefused(text: String) {
        #expect(!isRead(Array(text.utf8)))
    }

    /// A binary list of these objects, each with references of one byte.
    private func list(_ objects: [[UInt8]], count: Int? = nil) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var (bytes, offsets): ([UInt8], [UInt8]) = (Array("bplist00".utf8), [])
        for object in objects {
            offsets += number(bytes.count)
            bytes += object
        }
        let table = bytes.count
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 8, 1] + number(count ?? objects.count) + number(0) + number(table)
    }

    private func text(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

    private static let zeros = [UInt8](repeating: 0, count: 7)

    @Test(arguments: [
        // More elements than there are bytes: of a dictionary, an array, texts and data.
        [0xDF, 0x13, 0x40] + zeros, [0xAF, 0x13, 0x80] + zeros, [0x5F, 0x13, 0xFF] + zeros,
        [0x6F, 0x13, 0x7F] + zeros, [0x4F, 0x13, 0x80] + zeros, [0xDF, 0x14] + zeros, [0x1F], [0xD1],
        // One half of a text in UTF-16.
        [0x6F, 0x10, 0x60] + [UInt8](repeating: 0x41, count: 0x60),
    ])
    func aLengthThatLiesEndsNothingButTheReading(object: [UInt8]) {
        #expect(!isRead(list([object])))
        for key in ["text", "texts", "data", "number", "more"] {
            #expect(!isRead(list([[0xD1, 1, 2], text(key), object])))
        }
    }

    @Test func aListOfMoreObjectsThanBytesIsRefused() {
        #expect(isRead(list([[0xD1, 1, 2], text("text"), text("a")])))
        for count in [4, 1 << 40, Int.max, -1] {
            #expect(!isRead(list([[0xD1, 1, 2], text("text"), text("a")], count: count)))
        }
    }

    @Test func anObjectThatStandsInAMillionPlacesIsNotDecodedAMillionTimes() {
        // A dictionary whose values are all the same, which has as many itself.
        let keys = (0..<120).map { [0x53] + Array(String(1000 + $0).utf8.dropFirst()) }
        let first = UInt8(3)
        let references = (0..<120).map { first + UInt8($0) }
        let inner = [0xDF, 0x10, 120] + references + [UInt8](repeating: 2, count: 120)
        let outer = [0xDF, 0x10, 121] + references + [1] + [UInt8](repeating: 2, count: 121)
        #expect(!isRead(list([outer, text("more"), inner] + keys)))
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64], [PropertyListCoding.Format.xml, .binary])
    func noChangedByteEndsTheProcess(seed: UInt64, format: PropertyListCoding.Format) throws {
        var generator = SeededGenerator(seed: seed)
        let whole = try PropertyListCoding.encode(Self.sample, as: format)
        var refused = 0
        for _ in 0..<3000 {
            if !isRead(generator.damaged(whole)) { refused += 1 }
        }
        #expect(refused > 100)
    }
}
