// Where the parts of a signature lie in a bundle, and which parts of a bundle are signed by themselves.

import Platform
import SandboxModel

/// Names inside a bundle that the seal itself uses.
enum SealLayout {
    static let directory: FileName = "_CodeSignature"
    static let resources: FileName = "CodeResources"
    static let codeDirectory: FileName = "CodeDirectory"
    static let signature: FileName = "CodeSignature"
    static let information: FileName = "Info.plist"

    static let resourcesPath = "_CodeSignature/CodeResources"
    static let codeDirectoryPath = "_CodeSignature/CodeDirectory"
    static let signaturePath = "_CodeSignature/CodeSignature"

    /// Further parts that may lie in the signature's directory, each bound by a special slot of the code directory.
    static let slots: [String: Int] = [
        "_CodeSignature/CodeRequirements": CodeDirectory.requirementsSlot,
        "_CodeSignature/CodeEntitlements": CodeDirectory.entitlementsSlot,
    ]

    /// Bundles in a bundle, each deeper than the one before: more than anybody builds.
    static let deepestNesting = 16

    private static let codeSuffixes = [".app", ".appex", ".framework", ".xpc"]

    /// Whether a directory is code with a signature of its own: a bundle by its name, with an Info.plist.
    static func nestedBundles(in tree: BundleTree) -> [[FileName]] {
        let information = Set(
            tree.entries.filter { $0.status.kind == .file && $0.path.last == SealLayout.information }
                .map { Array($0.path.dropLast()) })
        let bundles = Set(
            tree.entries.filter { entry in
                entry.status.kind == .directory && information.contains(entry.path)
                    && codeSuffixes.contains { entry.path.last!.text.hasSuffix($0) }
            }.map(\.path))
        // Those in others are the others' to sign.
        return bundles.filter { path in !(1..<path.count).contains { bundles.contains(Array(path.prefix($0))) } }
            .sorted { $0.text < $1.text }
    }
}
