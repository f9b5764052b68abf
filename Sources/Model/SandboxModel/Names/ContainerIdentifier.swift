// Identifiers of apps and containers. They become directory names on the host, and are validated once, so that no `/`
// and no `..` ever reaches a path.

/// A bundle identifier such as `com.example.Notes`, or that of a group or iCloud container.
///
/// Apple allows letters, digits, `-` and `.` (Information Property List Key Reference, CFBundleIdentifier).
/// Apple's group identifiers begin with `group.` and iCloud's with `iCloud.`, which is not required here.
public struct ContainerIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// Reasons for which a text is no identifier.
    public enum Flaw: Sendable, CustomStringConvertible {
        case empty
        case tooLong
        case beginning
        case twoDots
        case character

        /// The end of a sentence that begins with the text.
        public var description: String {
            switch self {
            case .empty: "it is empty"
            case .tooLong: "it is longer than \(ContainerIdentifier.longest) characters"
            case .beginning: "it begins with . or -"
            case .twoDots: "it has two dots in a row"
            case .character: "only the letters a to z and A to Z, digits, -, _ and . are allowed"
            }
        }
    }

    private static let longest = 155

    /// - Returns: nil unless the text is 1 to 155 ASCII letters, digits, `-`, `_` and `.`, beginning with neither
    ///   `.` nor `-`, and without `..`.
    public init?(_ text: String) {
        guard ContainerIdentifier.flaw(of: text) == nil else { return nil }
        self.text = text
    }

    /// The first flaw of a text; nil if it is an identifier.
    public static func flaw(of text: String) -> Flaw? {
        let allowed: (UInt8) -> Bool = { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { return .empty }
        guard bytes.allSatisfy(allowed) else { return .character }
        guard bytes.count <= longest else { return .tooLong }
        guard first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return .beginning }
        guard !zip(bytes, bytes.dropFirst()).contains(where: { $0 == $1 && $0 == UInt8(ascii: ".") }) else {
            return .twoDots
        }
        return nil
    }

    public var description: String { text }
    public var fileName: FileName { FileName(text)! }

    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
