// File name patterns of fnmatch(3).

import Glibc

/// A case-insensitive pattern of fnmatch(3). With a slash it is matched against the whole path (`FNM_PATHNAME`),
/// without one against the last name.
public struct Glob: Sendable {
    private let pattern: String
    private let isPath: Bool

    public init(_ pattern: String) {
        isPath = pattern.utf8.contains(UInt8(ascii: "/"))
        self.pattern = pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern
    }

    /// `fnmatch(3)`.
    /// - Parameters:
    ///   - path: names separated by slashes.
    ///   - name: the last of these names.
    public func matches(_ path: String, name: String) -> Bool {
        // FNM_CASEFOLD, which glibc declares under _GNU_SOURCE only.
        let flags: Int32 = 1 << 4 | (isPath ? Int32(FNM_PATHNAME) : 0)
        return unsafe fnmatch(pattern, isPath ? path : name, flags) == 0
    }
}
