// Malicious binary property lists in bundles.

import SandboxModel
import Testing

@testable import BundleSeal

@Suite struct BundleBinaryPropertyListTests {
    /// A list of one object.
    private func list(_ object: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return Array("bplist00".utf8) + object + [8, 0, 0, 0, 0, 0, 0, 1, 1] + number(1) + number(0)
            + number(8 + object.count)
    }

    @Test(arguments: [
        // Dictionaries, arrays and strings with counts above the number of bytes.
        [0xDF, 0x13, 0x40] + [UInt8](repeating: 0, count: 7),
        [0xAF, 0x13, 0x80] + [UInt8](repeating: 0, count: 7),
        // A string in UTF-16 with half of its bytes.
        [0x6F, 0x10, 0x40] + [UInt8](repeating: 0x41, count: 0x40),
    ])
    func `a length that lies ends nothing but the reading`(object: [UInt8]) {
        let bytes = list(object)
        #expect(throws: Complaint.self) { try BundleInformation(decoding: bytes, bundleName: "Notes.app") }
        #expect(throws: SealFault.self) { try CodeResources(decoding: bytes) }
        #expect(!CodeDirectoryHashes(decoding: bytes).contain([1]))
    }
}
