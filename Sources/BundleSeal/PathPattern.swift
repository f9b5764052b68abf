// The regular expressions of resource rules: POSIX extended ones (regcomp(3)), as codesign compiles them.

import Glibc

/// A compiled expression that paths are held against.
@safe final class PathPattern: @unchecked Sendable {
    // Allocated apart because a regex_t must not move; valid from init to deinit. regexec locks it by itself.
    @unsafe private let expression: UnsafeMutablePointer<regex_t>

    private static let longest = 512

    /// - Returns: nil for what is no expression, and for one whose matching could take any time: the rules of a bundle
    ///   are written by whoever signed it. Without repetition counts and back references the C library's matcher is
    ///   linear in the path and modest in memory.
    init?(_ pattern: String) {
        let bytes = Array(pattern.utf8)
        guard bytes.count <= PathPattern.longest, !bytes.contains(0), !bytes.contains(UInt8(ascii: "{")) else {
            return nil
        }
        for (byte, next) in zip(bytes, bytes.dropFirst()) where byte == UInt8(ascii: "\\") {
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { return nil }
        }
        unsafe expression = .allocate(capacity: 1)
        guard unsafe regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB) == 0 else {
            unsafe expression.deallocate()
            return nil
        }
    }

    deinit {
        unsafe regfree(expression)
        unsafe expression.deallocate()
    }

    func matches(_ path: String) -> Bool {
        unsafe regexec(expression, path, 0, nil, 0) == 0
    }
}
