// Tests of entitlements as property list and DER.

import SandboxModel
import Testing

@testable import BundleSeal

@Suite struct EntitlementBlobsTests {
    private func blob(_ magic: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return magic + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + content
    }

    private func list(_ inner: String) -> [UInt8] {
        blob([0xFA, 0xDE, 0x71, 0x71], Array("<plist version=\"1.0\"><dict>\(inner)</dict></plist>".utf8))
    }

    private func der(_ content: [UInt8]) -> [UInt8] { blob([0xFA, 0xDE, 0x71, 0x72], content) }

    private static let sample = Entitlements([
        "application-identifier": .string("TEAM123456.com.example.Notes"),
        "com.apple.security.application-groups": .array([.string("group.com.example.shared")]),
        "get-task-allow": .boolean(true), "number": .integer(-300),
        "nested": .dictionary(["b": .boolean(false), "a": .array([])]),
    ])

    @Test func `entitlements come back from both blobs as they were`() throws {
        let blobs = try EntitlementBlobs(EntitlementBlobsTests.sample)
        #expect(try blobs.entitlements() == EntitlementBlobsTests.sample)
        #expect(
            try EntitlementBlobs(propertyList: blobs.propertyList, der: nil).entitlements()
                == EntitlementBlobsTests.sample)
        #expect(try EntitlementBlobs(propertyList: nil, der: blobs.der).entitlements() == EntitlementBlobsTests.sample)
    }

    @Test func `equal entitlements give equal bytes`() throws {
        let other = Entitlements(Dictionary(uniqueKeysWithValues: EntitlementBlobsTests.sample.values.reversed()))
        #expect(try EntitlementBlobs(other) == EntitlementBlobs(EntitlementBlobsTests.sample))
    }

    @Test(
        arguments: [
            (Entitlements(), [0x70, 5, 2, 1, 1, 0xB0, 0]),
            (
                Entitlements(["key": .boolean(true)]),
                [0x70, 15, 2, 1, 1, 0xB0, 10, 0x30, 8, 0x0C, 3, 0x6B, 0x65, 0x79, 1, 1, 0xFF]
            ),
            (
                Entitlements(["a": .array([.integer(1)])]),
                [0x70, 15, 2, 1, 1, 0xB0, 10, 0x30, 8, 0x0C, 1, 0x61, 0x30, 3, 2, 1, 1]
            ),
        ] as [(Entitlements, [UInt8])])
    func `the DER is that of codesign`(entitlements: Entitlements, bytes: [UInt8]) throws {
        #expect(EntitlementsDER.encode(entitlements) == bytes)
        #expect(try EntitlementsDER.decode(bytes) == entitlements)
    }

    @Test func `no blob is no entitlement`() throws {
        #expect(try EntitlementBlobs(propertyList: nil, der: nil).entitlements().isEmpty)
    }

    @Test func `a property list and DER that disagree are refused, and the key is named`() throws {
        let other = try EntitlementBlobs(Entitlements(["get-task-allow": .boolean(false)]))
        let blobs = EntitlementBlobs(propertyList: list("<key>get-task-allow</key><true/>"), der: other.der)
        let fault = #expect(throws: SealFault.self) { try blobs.entitlements() }
        #expect(fault?.reason == "their property list and their DER disagree about get-task-allow")
    }

    @Test(
        arguments: [
            [], [0x70], [0x70, 5, 2, 1, 2, 0xB0, 0], [0x70, 5, 2, 1, 1, 0xB0, 1], [0x30, 5, 2, 1, 1, 0xB0, 0],
            [0x70, 3, 2, 1, 1], [0x70, 6, 2, 1, 1, 0xB0, 0, 0],
            // A key twice; a key that is no text; a value that is a real.
            [
                0x70, 23, 2, 1, 1, 0xB0, 18, 0x30, 7, 0x0C, 2, 0x61, 0x62, 2, 1, 1, 0x30, 7, 0x0C, 2, 0x61, 0x62, 2, 1,
                2,
            ],
            [0x70, 13, 2, 1, 1, 0xB0, 8, 0x30, 6, 2, 1, 1, 2, 1, 1],
            [0x70, 13, 2, 1, 1, 0xB0, 8, 0x30, 6, 0x0C, 1, 0x61, 9, 1, 0],
        ] as [[UInt8]])
    func `DER that is malformed is refused`(bytes: [UInt8]) {
        #expect(throws: SealFault.self) { try EntitlementsDER.decode(bytes) }
        #expect(throws: SealFault.self) { try EntitlementBlobs(propertyList: nil, der: der(bytes)).entitlements() }
    }

    @Test(arguments: [
        "<key>a</key><real>1.5</real>", "<key>a</key><date>2020-01-01T00:00:00Z</date>",
        "<key>a</key><data>AA==</data>",
        "<key>a</key>",
    ])
    func `a property list with a value that no entitlement has is refused`(inner: String) {
        #expect(throws: SealFault.self) { try EntitlementBlobs(propertyList: list(inner), der: nil).entitlements() }
    }

    @Test func `a blob with another magic number, or another length, is refused`() throws {
        let blobs = try EntitlementBlobs(EntitlementBlobsTests.sample)
        let list = try #require(blobs.propertyList)
        for wrong in [Array(list.dropLast()), list + [0], Array(list.prefix(7)), [0] + list.dropFirst()] {
            #expect(throws: SealFault.self) { try EntitlementBlobs(propertyList: wrong, der: nil).entitlements() }
        }
        #expect(throws: SealFault.self) { try EntitlementBlobs(propertyList: nil, der: list).entitlements() }
    }

    @Test func `DER nested a thousand times is refused`() {
        var value: [UInt8] = [1, 1, 0xFF]
        for _ in 0..<1000 {
            let count = value.count
            value = [0x30] + (count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]) + value
        }
        #expect(throws: SealFault.self) { try EntitlementsDER.decode(value) }
    }

    @Test func `too many entitlements, and too large ones, are refused`() {
        let many = Entitlements(
            Dictionary(uniqueKeysWithValues: (0...EntitlementBlobs.mostValues).map { ("key\($0)", .boolean(true)) }))
        #expect(throws: SealFault.self) { try EntitlementBlobs(many) }
        let large = Entitlements(["key": .string(String(repeating: "x", count: EntitlementBlobs.largest))])
        #expect(throws: SealFault.self) { try EntitlementBlobs(large) }
    }
}
