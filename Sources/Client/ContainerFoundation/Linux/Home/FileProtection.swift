// The names that data protection has in Apple's Foundation, and which class each of them is.

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
    /// Opened while the device is unlocked; what is open stays usable.
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

// On Apple's systems Foundation itself says so; should it come to say so here, the compiler will tell.
// swift-format-ignore: AvoidRetroactiveConformances
extension FileProtectionType: @retroactive Hashable {}

extension Data.WritingOptions {
    /// Readable while somebody uses the device. Here it is `completeFileProtection`.
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(rawValue: 0x5000_0000)

    /// The class that the options ask for; nil where they leave it to the directory.
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
    /// - Parameter value: what an app gives for a class: a value of one of Foundation's two types, or its raw value.
    /// - Throws: EINVAL for anything else.
    init(foundationValue value: Any) throws(SystemError) {
        let name =
            (value as? FileProtectionType)?.rawValue ?? (value as? URLFileProtection)?.rawValue ?? value as? String
        guard let name else { throw .invalid }
        if name.hasSuffix(FileProtectionType.inactive.rawValue.dropFirst(2)) {
            self = .complete
            return
        }
        // The names of the second type are those of the first, with `URL` in them.
        let known = name.hasPrefix("NSURL") ? "NS" + name.dropFirst(5) : name
        guard let protection = ProtectionClass(foundationName: known) else { throw .invalid }
        self = protection
    }

    var fileProtection: FileProtectionType { FileProtectionType(rawValue: foundationName) }
    var urlFileProtection: URLFileProtection { URLFileProtection(rawValue: "NSURL" + foundationName.dropFirst(2)) }
}
