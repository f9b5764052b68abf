// The files of a signature in a bundle, and the nested bundles that have signatures of their own.

import Platform
import SandboxModel

/// Names and limits of a bundle's seal. They are codesign's for a main executable that is not a Mach-O.
enum SealLayout {
    static let directory: FileName = "_CodeSignature"
    static let resources: FileName = "CodeResources"
    static let codeDirectory: FileName = "CodeDirectory"
    static let signature: FileName = "CodeSignature"
    static let entitlements: FileName = "CodeEntitlements"
    static let derEntitlements: FileName = "CodeEntitlementDER"
    static let information: FileName = "Info.plist"

    static let resourcesPath = "_CodeSignature/CodeResources"
    static let codeDirectoryPath = "_CodeSignature/CodeDirectory"
    static let signaturePath = "_CodeSignature/CodeSignature"

    /// Optional files of `_CodeSignature`, each sealed by a special slot of the code directory.
    static let slots: [String: Int] = [
        "_CodeSignature/CodeRequirements": CodeDirectory.requirementsSlot,
        "_CodeSignature/CodeEntitlements": CodeDirectory.entitlementsSlot,
        "_CodeSignature/CodeEntitlementDER": CodeDirectory.derEntitlementsSlot,
    ]

    /// The limit of bundles nested in one another, far above that of real apps.
    static let deepestNesting = 16

    /// Whether a path is that of an app extension of the outermost bundle.
    static func isExtension(_ path: [FileName]) -> Bool {
        path.count == 2 && path[0] == HomeLayout.plugIns && AppDirectory.isExtensionName(path[1])
    }

    private static let codeSuffixes = [".app", ".appex", ".framework", ".xpc"]

    /// The nested bundles of a bundle: directories with the suffix of a bundle and an Info.plist. Bundles inside nested
    /// bundles are left out, because those seal them.
    static func nestedBundles(in tree: BundleTree) -> [[FileName]] {
        let information = Set(
            tree.entries.filter { $0.status.kind == .file && $0.path.last == SealLayout.information }
                .map { Array($0.path.dropLast()) })
        let bundles = Set(
            tree.entries.filter { entry in
                entry.status.kind == .directory && information.contains(entry.path)
                    && codeSuffixes.contains { entry.path.last!.text.hasSuffix($0) }
            }.map(\.path))
        return bundles.filter { path in !(1..<path.count).contains { bundles.contains(Array(path.prefix($0))) } }
            .sorted { $0.text < $1.text }
    }
}
