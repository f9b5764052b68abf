// Paths taken apart by bytes, as the kernel does. To Swift a slash and a combining mark after it are one `Character`
// that is no slash, and two texts with different bytes may be equal.

extension HostPath {
    private static let slash = UInt8(ascii: "/")

    /// The names between a path's slashes, without empty ones.
    public static func names(of path: some StringProtocol) -> [String] {
        path.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All that lies between a path's slashes, empty parts included.
    public static func parts(of path: some StringProtocol) -> [String] {
        path.utf8.split(separator: slash, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The place of the last slash of a path; nil without one.
    public static func lastSlash(in path: String) -> String.Index? {
        path.utf8.lastIndex(of: slash)
    }

    /// Whether two paths have the same bytes.
    public static func areSame(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
        one.utf8.elementsEqual(other.utf8)
    }

    /// A path without the slashes at its end, and the root as it is.
    public static func withoutTrailingSlashes(_ path: String) -> String {
        guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return path.isEmpty ? "" : "/" }
        return String(decoding: path.utf8[...last], as: UTF8.self)
    }

    /// The rest of a path within a directory, as they are written.
    /// - Parameter directory: without a slash at its end, unless it is the root.
    /// - Returns: an empty text for the directory itself; nil for a path that is not in it.
    public static func rest(of path: String, in directory: String) -> String? {
        guard path.utf8.starts(with: directory.utf8) else { return nil }
        let rest = path.utf8.dropFirst(directory.utf8.count)
        guard !rest.isEmpty, directory.utf8.last != slash else { return String(decoding: rest, as: UTF8.self) }
        return rest.first == slash ? String(decoding: rest.dropFirst(), as: UTF8.self) : nil
    }

    /// Whether a path lies below a directory, as they are written.
    public static func lies(_ path: String, below directory: String) -> Bool {
        rest(of: path, in: directory).map { !$0.isEmpty } ?? false
    }
}
