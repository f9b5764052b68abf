// Names that become directory names on the host: validated once, so that no `/` and no `..` ever reaches a path.

/// A bundle identifier such as `com.example.Notes`, or that of a group or iCloud container.
///
/// Apple allows letters, digits, `-` and `.` (Information Property List Key Reference, CFBundleIdentifier).
/// Group identifiers begin with `group.` there and iCloud's with `iCloud.`; that is not asked for here.
public struct ContainerIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// - Returns: nil unless the text is 1 to 155 ASCII letters, digits, `-`, `_` and `.`, beginning with neither
    ///   `.` nor `-`, and without `..`.
    public init?(_ text: String) {
        let allowed: (UInt8) -> Bool = { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        let bytes = Array(text.utf8)
        guard (1...155).contains(bytes.count), bytes.allSatisfy(allowed) else { return nil }
        guard bytes[0] != UInt8(ascii: "."), bytes[0] != UInt8(ascii: "-") else { return nil }
        guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == $1 && $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        self.text = text
    }

    public var description: String { text }
    public var fileName: FileName { FileName(text)! }

    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
