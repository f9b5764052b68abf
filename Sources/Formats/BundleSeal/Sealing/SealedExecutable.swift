// The main executable of a bundle whose Info.plist may have been changed.

import Platform
import SandboxModel

/// The search for the executable that was sealed. Info.plist names it; one that was changed may name another file, or
/// none.
enum SealedExecutable {
    /// The file that can only be the executable: the one file directly in the bundle that CodeResources neither seals
    /// nor leaves out. The code directory seals it instead.
    /// - Returns: nil where there is no such file, or more than one.
    static func found(in tree: BundleTree, _ encoded: [UInt8]?) -> FileName? {
        guard let encoded, let resources = try? CodeResources(decoding: encoded),
            let rules = try? ResourceRules(resources.sealedRules)
        else { return nil }
        let candidates = tree.entries.filter { entry in
            guard entry.path.count == 1, entry.status.kind == .file, let path = entry.sealPath else { return false }
            return path != SealLayout.information.text && resources.sealed[path] == nil
                && rules.rule(for: path)?.isOmitted != true
        }
        return candidates.count == 1 ? candidates[0].path[0] : nil
    }
}
