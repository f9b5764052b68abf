// Names of extended attributes: the attributes that the host stores, and those that this filesystem computes.

import SandboxModel

/// The name of an attribute as the application gives it, and as the host keeps it.
///
/// `com.apple.NAME` and `user.com.apple.NAME` are one attribute, because Apple's names have no namespace and the host
/// takes none but `user.`.
enum ExtendedAttributeName {
    /// Kept on the host under this name.
    case stored([UInt8])
    case protection
    /// A name of the mark that keeps something out of backups.
    case mark(BackupMark.Form)
    /// Whether it is in a backup.
    case inclusion
    /// Of the home: how much can be stored for a usage.
    case capacity(SpaceUsage)
    /// Of the home: whether the device is unlocked, as an app may know it.
    case protectedData
    /// Reserved for what this filesystem computes.
    case computed
    case capability
    case unsupported
    /// The host would not take it, with the prefix that it needs.
    case tooLong

    /// XATTR_NAME_MAX of <linux/limits.h>.
    private static let maximumLength = 255

    init(_ name: [UInt8]) {
        if name.elementsEqual(ProtectionClass.attributeName.utf8) {
            self = .protection
        } else if name.elementsEqual(ProtectedData.attributeName.utf8) {
            self = .protectedData
        } else if name.starts(with: "user.appcontainer.".utf8) {
            let usage = SpaceUsage.allCases.first { name.elementsEqual($0.attributeName.utf8) }
            self =
                usage.map { .capacity($0) }
                ?? (name.elementsEqual(BackupInclusion.attributeName.utf8) ? .inclusion : .computed)
        } else if let form = BackupMark.Form(attribute: name) {
            self = .mark(form)
        } else if name.starts(with: "user.".utf8), name.count > 5 {
            self = .stored(name)
        } else if name.starts(with: "com.apple.".utf8), name.count > 10 {
            self = .stored(Array("user.".utf8) + name)
        } else if name.elementsEqual("security.capability".utf8) {
            self = .capability
        } else {
            self = .unsupported
        }
        if case .stored(let name) = self, name.count > ExtendedAttributeName.maximumLength { self = .tooLong }
    }
}
