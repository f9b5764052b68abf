// Names by pattern, as shells have them: fnmatch(3).

import Glibc

/// A pattern of fnmatch(3), whatever the case of letters. One with a slash is matched against the whole path, in which `*`
/// does not match a slash; one without is matched against the last name.
public struct Glob: Sendable {
    private let pattern: String
    private let isPath: Bool

    public init(_ pattern: String) {
        isPath = pattern.contains("/")
        self.pattern = pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern
    }

    /// - Parameters:
    ///   - path: names with slashes between them.
    ///   - name: the last of them.
    public func matches(_ path: String, name: String) -> Bool {
        // FNM_CASEFOLD of glibc is not among what its module has.
        let flags: Int32 = 1 << 4 | (isPath ? Int32(FNM_PATHNAME) : 0)
        return unsafe fnmatch(pattern, isPath ? path : name, flags) == 0
    }
}
