// Property lists in memory: round trips, comparison with Foundation, malformed lists.

import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct PropertyListTests {
    private static let list = PropertyList.dictionary([
        "true": .boolean(true), "small": .integer(7), "large": .integer(.max), "negative": .integer(-3),
        "word": .integer(65_536), "real": .real(1.5), "date": .date(700_000_000.25), "data": .data([0, 1, 2]),
        "long": .data([UInt8](repeating: 9, count: 70_000)), "text": .string("plain"),
        "other": .string("\u{FC}\u{1F4F1}"),
        "array": .array([.string("a"), .array([]), .dictionary([:])]),
    ])

    @Test func whatIsWrittenIsRead() {
        #expect(PropertyList(decoding: Self.list.encoded) == Self.list)
        #expect(PropertyList(decoding: PropertyList.array([.uid(300)]).encoded) == .array([.uid(300)]))
        // More objects than one byte can refer to.
        let many = PropertyList.array((0..<70_000).map { .integer(Int64($0)) })
        #expect(PropertyList(decoding: many.encoded) == many)
    }

    @Test func foundationReadsWhatIsWritten() throws {
        let decoded = unsafe try PropertyListSerialization.propertyList(from: Data(Self.list.encoded), format: nil)
        let found = try #require(decoded as? [String: Any])
        #expect(found.count == 12)
        #expect(found["large"] as? Int == .max && found["negative"] as? Int == -3 && found["word"] as? Int == 65_536)
        #expect(found["other"] as? String == "\u{FC}\u{1F4F1}" && found["real"] as? Double == 1.5)
        #expect(found["date"] as? Date == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
        #expect((found["long"] as? Data)?.count == 70_000 && found["true"] as? Bool == true)
    }

    @Test func whatFoundationWritesIsRead() throws {
        let values: [String: Any] = [
            "a <&> \"b\"": "\u{FC} & <x>", "number": -12, "real": 2.5, "yes": true, "data": Data([1, 2, 3, 4]),
            "nested": ["x", ["y": Data()]], "empty": "", "big": Int64.max,
        ]
        let bytes = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
        let list = try #require(PropertyList(decoding: Array(bytes)))
        #expect(list["a <&> \"b\""]?.string == "\u{FC} & <x>" && list["number"]?.integer == -12)
        #expect(list["real"] == .real(2.5) && list["yes"]?.boolean == true && list["data"]?.data == [1, 2, 3, 4])
        #expect(list["nested"] == .array([.string("x"), .dictionary(["y": .data([])])]))
        #expect(list["empty"]?.string == "" && list["big"]?.integer == .max)
    }

    @Test(arguments: ["", "bplist", "bplist00", "<plist><true/></plist>"])
    func whatIsNoListIsRefused(text: String) {
        #expect(PropertyList(decoding: Array(text.utf8)) == nil)
    }

    @Test func anObjectWithinItselfIsRefused() {
        // An array that is its own element.
        var bytes = Array("bplist00".utf8) + [0xA1, 0x00, 8]
        bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        bytes += [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(PropertyList(decoding: bytes) == nil)
    }

    @Test func aFewBytesCannotMeanMillionsOfObjects() {
        // Each of 30 arrays has the next one ten times: 10^30 in all.
        let zeros = [UInt8](repeating: 0, count: 6)
        func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for index in 0..<30 {
            offsets += number(bytes.count)
            bytes += [0xAA] + [UInt8](repeating: UInt8(min(index + 1, 29)), count: 10)
        }
        let table = bytes.count
        bytes += offsets
        bytes += zeros + [2, 1]
        bytes += zeros + number(30)
        bytes += zeros + number(0)
        bytes += zeros + number(table)
        #expect(PropertyList(decoding: bytes) == nil)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func noChangedByteEndsTheProcess(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let small = PropertyList.dictionary([
            "a": .array([.integer(1), .string("b"), .data([1, 2])]),
            "\u{FC}": .dictionary(["x": .uid(1), "d": .date(1)]),
        ])
        let whole = small.encoded
        var refused = 0
        for _ in 0..<3000 {
            if PropertyList(decoding: generator.damaged(whole)) == nil { refused += 1 }
        }
        #expect(refused > 100)
    }
}
