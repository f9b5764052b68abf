// Apple's Foundation names for protection classes, and their conversion.

public import Foundation
import Platform
import SandboxModel

/// The protection of a file as resource values have it: `URLResourceValues.fileProtection`.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Always readable.
    public static let none = URLFileProtection(rawValue: "NSURLFileProtectionNone")
    /// Readable while the device is unlocked.
    public static let complete = URLFileProtection(rawValue: "NSURLFileProtectionComplete")
    /// Can be opened while the device is unlocked; open files stay usable.
    public static let completeUnlessOpen = URLFileProtection(rawValue: "NSURLFileProtectionCompleteUnlessOpen")
    /// Readable from the first unlock after a boot.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(
        rawValue: "NSURLFileProtectionCompleteUntilFirstUserAuthentication")
    /// Readable while somebody uses the device. Here it is ``complete``, and reads back as that.
    public static let completeWhenUserInactive = URLFileProtection(
        rawValue: "NSURLFileProtectionCompleteWhenUserInactive")
}

extension FileProtectionType {
    /// Readable while somebody uses the device. Here it is `complete`, and reads back as that.
    public static let completeWhenUserInactive = inactive
}

// Foundation declares this conformance on Apple's systems. If it does so on Linux, the compiler will report a
// duplicate.
// swift-format-ignore: AvoidRetroactiveConformances
extension FileProtectionType: @retroactive Hashable {}

extension Data.WritingOptions {
    /// Readable while somebody uses the device. Here it is `completeFileProtection`.
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(rawValue: 0x5000_0000)

    /// The class that the options ask for; nil for the class of the directory.
    var protection: ProtectionClass? {
        switch intersection(.fileProtectionMask) {
        case .noFileProtection: ProtectionClass.none
        case .completeFileProtection, .completeFileProtectionWhenUserInactive: .complete
        case .completeFileProtectionUnlessOpen: .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
        default: nil
        }
    }
}

extension ProtectionClass {
    /// - Parameter value: a value of one of Foundation's two types, or its raw value.
    /// - Throws: EINVAL for anything else.
    init(foundationValue value: Any) throws(SystemError) {
        let name =
            (value as? FileProtectionType)?.rawValue ?? (value as? URLFileProtection)?.rawValue ?? value as? String
        guard let name else { throw .invalid }
        if name.hasSuffix(FileProtectionType.inactive.rawValue.dropFirst(2)) {
            self = .complete
            return
        }
        // The raw values of the second type are those of the first with `URL` in them.
        let known = name.hasPrefix("NSURL") ? "NS" + name.dropFirst(5) : name
        guard let protection = ProtectionClass(foundationName: known) else { throw .invalid }
        self = protection
    }

    var fileProtection: FileProtectionType { FileProtectionType(rawValue: foundationName) }
    var urlFileProtection: URLFileProtection { URLFileProtection(rawValue: "NSURL" + foundationName.dropFirst(2)) }
}
