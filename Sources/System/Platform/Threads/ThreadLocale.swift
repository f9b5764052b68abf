// The locale of the calling thread, by which a C library knows the character set of names.

import Glibc

/// For libraries that convert names and have no other way to be told.
public enum ThreadLocale {
    /// Bytes above 127 are no characters, so that a library that converts names has to leave them as they are.
    public static func ascii<Result>(_ body: () -> Result) -> Result { unsafe with(posix, body) }

    public static func utf8<Result>(_ body: () -> Result) -> Result { unsafe with(unicode, body) }

    // Made once and never freed. The C library has both by itself, whatever is installed.
    @unsafe private nonisolated(unsafe) static let posix = unsafe newlocale(1 << LC_CTYPE, "C", nil)
    @unsafe private nonisolated(unsafe) static let unicode = unsafe newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

    @unsafe private static func with<Result>(_ locale: locale_t?, _ body: () -> Result) -> Result {
        let previous = unsafe uselocale(locale)
        defer { unsafe uselocale(previous) }
        return body()
    }
}
