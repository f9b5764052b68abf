// appcontainer exclude: sets the mark of exclusion.

import ArgumentParser
import Platform
import SandboxModel

/// Sets an extended attribute of the mount, with the rights of the user, instead of asking the daemon: the mount
/// applies its rules as to any other process. Goes on after a failure, and ends with the exit code of the first.
struct Exclude: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep files and directories out of backups.",
        discussion: """
            Sets the mark of URLResourceValues.isExcludedFromBackup. An excluded directory keeps out all that is in \
            it. The mark goes when the file is replaced, as by an atomic save. Library/Caches, tmp, the bundle and \
            iCloud are never in a backup.
            """)

    @Argument(help: "Paths in mounted homes.", completion: Completions.paths)
    var paths: [String]
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        try HomeEntry.each(paths, kept: "mark of exclusion") { (entry, _) throws(Complaint) in
            // The one attribute that the mount stores; it shows the other forms of the mark itself.
            try entry.changeMark("exclude") { (holder) throws(SystemError) in
                try holder.set(Array(BackupMark.attributeName.utf8), to: BackupMark.canonicalValue)
            }
        }
    }
}

extension HomeEntry {
    /// Sets or removes the backup mark, an attribute of the mount.
    /// - Parameter verb: for messages, such as "exclude".
    /// - Throws: ``Complaint`` of kind `notAllowed` for a rule of the sandbox (EPERM) or the mode (EACCES), or with the
    ///   host's error.
    func changeMark(_ verb: String, _ change: (AttributeHolder) throws(SystemError) -> Void) throws(Complaint) {
        do throws(SystemError) {
            try change(AttributeHolder(file: node.descriptor))
        } catch {
            let doing = "cannot \(verb) \(path)"
            switch error {
            case .notPermitted:
                throw Complaint(
                    .notAllowed, "\(doing): a rule of the sandbox keeps it as it is; see: appcontainer inspect \(path)")
            case .accessDenied:
                throw Complaint(.notAllowed, "\(doing): its mode does not let you write to it; change that first")
            default: throw Complaint(error, doing: doing)
            }
        }
    }
}
