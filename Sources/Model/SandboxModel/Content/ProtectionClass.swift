// The four protection classes, by the raw values of Foundation and the letters of Apple's Platform Security guide.

/// The states of the device in which a file's content can be read.
///
/// The raw value is the number stored in file headers and keybags; it never changes its meaning.
public enum ProtectionClass: UInt8, CaseIterable, Sendable {
    /// Class A: readable while the device is unlocked.
    case complete = 1
    /// Class B: opened while unlocked; an open descriptor keeps working after the lock.
    case completeUnlessOpen = 2
    /// Class C: readable from the first unlock after a boot until the next restart. The default.
    case completeUntilFirstUserAuthentication = 3
    /// Class D: always readable.
    case none = 4

    /// The class of new files in a directory that gives no other.
    public static let standard = ProtectionClass.completeUntilFirstUserAuthentication

    /// The extended attribute by which the class is read and set; its values are the ``foundationName``s.
    public static let attributeName = "user.appcontainer.protection"

    /// The raw value of Foundation's `FileProtectionType`.
    public var foundationName: String {
        switch self {
        case .complete: "NSFileProtectionComplete"
        case .completeUnlessOpen: "NSFileProtectionCompleteUnlessOpen"
        case .completeUntilFirstUserAuthentication: "NSFileProtectionCompleteUntilFirstUserAuthentication"
        case .none: "NSFileProtectionNone"
        }
    }

    /// The word for the command line.
    public var shortName: String {
        switch self {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeUntilFirstUserAuthentication: "until-first-unlock"
        case .none: "none"
        }
    }

    /// - Parameter foundationName: one of the raw values of `FileProtectionType`, to the letter.
    public init?(foundationName: String) {
        guard let known = ProtectionClass.allCases.first(where: { $0.foundationName == foundationName }) else {
            return nil
        }
        self = known
    }

    /// - Parameter bytes: an attribute's value: one of the raw values of `FileProtectionType`, to the byte.
    public init?(attributeValue bytes: [UInt8]) {
        guard let known = ProtectionClass.allCases.first(where: { $0.foundationName.utf8.elementsEqual(bytes) }) else {
            return nil
        }
        self = known
    }

    /// - Parameter word: a ``shortName`` or a ``foundationName``.
    public init?(word: String) {
        guard let known = ProtectionClass.allCases.first(where: { $0.shortName == word || $0.foundationName == word })
        else { return nil }
        self = known
    }
}
