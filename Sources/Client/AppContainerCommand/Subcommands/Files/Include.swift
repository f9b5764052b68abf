// appcontainer include: removes the mark of exclusion.

import ArgumentParser
import Platform
import SandboxModel

/// Removes an extended attribute of the mount, as `exclude` sets it. Goes on after a failure, and ends with the exit
/// code of the first.
struct Include: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let files and directories go into backups again.",
        discussion: """
            Takes away the mark that `appcontainer exclude` sets. Entries of an excluded directory stay out with it; \
            Library/Caches, tmp, the bundle and iCloud cannot be included.
            """)

    @Argument(help: "Paths in mounted homes.", completion: Completions.paths)
    var paths: [String]
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        try HomeEntry.each(paths, kept: "mark of exclusion") { (entry, _) throws(Complaint) in
            do throws(Complaint) {
                try entry.changeMark("include") { (holder) throws(SystemError) in
                    try holder.remove(Array(BackupMark.attributeName.utf8))
                }
            } catch {
                // EPERM does not name the rule; this one has no remedy, so it is told apart.
                throw entry.isNeverInBackup
                    ? Complaint(.notAllowed, "cannot include \(entry.path): \(Rule.neverInBackup.words)") : error
            }
            entry.warnOfExclusion()
        }
    }
}

extension HomeEntry {
    /// Whether it is excluded by its place rather than by a mark: then the attribute has a value but is not listed.
    fileprivate var isNeverInBackup: Bool {
        let holder = AttributeHolder(file: node.descriptor)
        let name = Array(BackupMark.attributeName.utf8)
        guard (try? holder.value(of: name)) != nil, let listed = try? holder.names() else { return false }
        return !listed.contains(name)
    }

    /// Warns if a directory above still excludes the item. The attribute ``BackupInclusion/attributeName`` of the mount
    /// names it, as `excluded-by:DIRECTORY`.
    fileprivate func warnOfExclusion() {
        let holder = AttributeHolder(file: node.descriptor)
        guard let value = try? holder.value(of: Array(BackupInclusion.attributeName.utf8)) else { return }
        let inclusion = String(decoding: value, as: UTF8.self)
        guard let colon = inclusion.firstIndex(of: ":") else { return }
        let directory = inclusion[inclusion.index(after: colon)...]
        StandardError.warn("\(path) stays out of backups with \(directory), which it lies in")
    }
}
