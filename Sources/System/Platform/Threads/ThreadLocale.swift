// The locale of the calling thread, from which libarchive takes the character set of names.

import Glibc

/// `uselocale(3)`.
public enum ThreadLocale {
    /// Runs `body` in the locale `C`, where bytes above 127 are no characters and names stay as they are.
    public static func ascii<Result>(_ body: () -> Result) -> Result { unsafe with(posix, body) }

    /// Runs `body` in the locale `C.UTF-8`.
    public static func utf8<Result>(_ body: () -> Result) -> Result { unsafe with(unicode, body) }

    // Made once and never freed. glibc has both built in.
    @unsafe private nonisolated(unsafe) static let posix = unsafe newlocale(1 << LC_CTYPE, "C", nil)
    @unsafe private nonisolated(unsafe) static let unicode = unsafe newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

    @unsafe private static func with<Result>(_ locale: locale_t?, _ body: () -> Result) -> Result {
        let previous = unsafe uselocale(locale)
        defer { unsafe uselocale(previous) }
        return body()
    }
}
