// Names of extended attributes: the attributes that the host stores, and those that this filesystem computes.

import SandboxModel

/// The meaning of an attribute name that an application gives.
///
/// `com.apple.NAME` and `user.com.apple.NAME` are one attribute, because Apple's names have no namespace and the host
/// takes none but `user.`.
enum ExtendedAttributeName {
    /// An attribute that the host stores under this name.
    case stored([UInt8])
    /// The protection class.
    case protection
    /// A form of the backup mark.
    case mark(BackupMark.Form)
    /// Whether a backup includes the node.
    case inclusion
    /// On a home: the space that is available for a usage.
    case capacity(SpaceUsage)
    /// On a home: whether protected data is available, as an app may know it.
    case protectedData
    /// Another name of this filesystem's own namespace.
    case computed
    /// A name in `com.apple.system.`, which Darwin keeps for its kernel, such as the protection class.
    case system
    /// `security.capability`, which the kernel looks for before each write.
    case capability
    /// Another namespace.
    case unsupported
    /// Longer than the host takes, with the prefix `user.`.
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
        } else if ExtendedAttributeName.isSystem(name) {
            self = .system
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

    private static func isSystem(_ name: [UInt8]) -> Bool {
        let bare = name.starts(with: "user.".utf8) ? name[5...] : name[...]
        return bare.starts(with: "com.apple.system.".utf8)
    }
}
