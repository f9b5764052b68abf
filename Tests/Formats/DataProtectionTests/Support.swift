// Bytes as these tests write them.

import Foundation

@testable import DataProtection

func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue }
    precondition(digits.count % 2 == 0)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func fixture(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    return hex(try String(contentsOf: folder.appending(path: name), encoding: .utf8))
}

extension SecretCell {
    var bytes: [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: SecretCell.count))
    }
}
