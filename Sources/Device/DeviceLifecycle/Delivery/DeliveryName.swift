// The name of a delivered file in the Inbox: its own, or one with a number where that is taken.

import Platform
import SandboxModel

/// The names that a delivered file may get.
enum DeliveryName {
    /// Renames a staged item to the first of its names that is free. The rename refuses a name that is taken
    /// (`RENAME_NOREPLACE`), so that none is replaced between a look and the rename.
    /// - Returns: the name that it has now.
    static func place(
        _ name: FileName, from staged: FileName, _ staging: borrowing Descriptor, _ inbox: borrowing Descriptor
    ) throws(SystemError) -> FileName {
        var number = 0
        while true {
            let candidate = number == 0 ? name : numbered(name, number)
            do throws(SystemError) {
                try staging.rename(staged, to: candidate, in: inbox, mode: .keeping)
                return candidate
            } catch {
                guard error == .exists else { throw error }
                number += 1
            }
        }
    }

    /// `mail.txt` becomes `mail-1.txt`; a name that is too long for that loses the end of its stem.
    static func numbered(_ name: FileName, _ number: Int) -> FileName {
        let bytes = Array(name.bytes)
        // A leading dot begins a hidden name, not an extension.
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
        let suffix = Array("-\(number)".utf8)
        var end = bytes[dot...]
        // A tail that leaves no bytes for the number is no extension.
        if end.count > 100 { end = [] }
        var stem = bytes[..<(bytes.count - end.count)]
        while stem.count + suffix.count + end.count > FileName.maximumLength {
            // A character of UTF-8 goes as a whole: its first byte, and the bytes 10xxxxxx that continue it.
            while let last = stem.popLast(), last & 0xC0 == 0x80 {}
        }
        return FileName(Array(stem) + suffix + Array(end))!
    }
}
