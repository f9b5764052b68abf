// appcontainer protect: changes protection classes.

import ArgumentParser
import BackingStore
import Daemon
import Glibc
import Platform
import SandboxModel

/// Sets an extended attribute of the mount, with the rights of the user, instead of asking the daemon: the mount
/// applies its rules as to any other process. Goes on after a failure, and ends with the exit code of the first.
struct Protect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the protection class of files, or the one that directories give.",
        discussion: """
            The classes are complete, complete-unless-open, until-first-unlock and none, or Foundation's names for \
            them. New entries of a directory get its class; with -R, the entries that it has get the class too. No \
            content is written anew.
            """)

    @Flag(name: [.customShort("R"), .long], help: "Change all files and directories below a directory as well.")
    var recursive = false
    @Argument(help: "The class to give.", completion: .list(ProtectionClass.allCases.map(\.shortName)))
    var `class`: String
    @Argument(help: "Paths in mounted homes.", completion: Completions.paths)
    var paths: [String]
    @OptionGroup var trustedOwner: TrustOption

    func validate() throws {
        guard ProtectionClass(word: self.class) == nil else { return }
        let words = ProtectionClass.allCases.map(\.shortName)
        throw ValidationError(
            "There is no class \(self.class); give \(words.dropLast().joined(separator: ", ")) or \(words.last!)")
    }

    /// A failure of one path undoes nothing of the others.
    func run() throws {
        guard let protection = ProtectionClass(word: self.class) else { return }
        try HomeEntry.each(paths, kept: "protection class") { (entry, failed) in
            HomeTree(entry).protect(as: protection, andBelow: recursive, failed: failed)
        }
    }
}

/// A file of a mounted home, or a directory with its contents.
private struct HomeTree {
    private let path: String
    private let top: SharedDescriptor
    private let status: FileStatus

    init(_ entry: HomeEntry) {
        path = entry.path
        top = entry.node
        status = entry.status
    }

    /// Changes the class of the item, and of all items below it if `andBelow`.
    /// - Parameter failed: called for each path that keeps its class.
    func protect(as protection: ProtectionClass, andBelow: Bool, failed: (Complaint) -> Void) {
        // The directory first, so that new items in it get the class.
        set(protection, AttributeHolder(file: top.descriptor), [], failed)
        guard andBelow, status.kind == .directory else { return }
        let walk = TreeWalk(top)
        func report(_ error: SystemError, _ path: [FileName]) {
            if error != .noEntry { failed(Complaint(error, doing: "cannot list \(text(path))")) }
        }
        while let directory = walk.next(failed: { report($0, walk.path + [$1]) }) {
            do throws(SystemError) {
                let entries = try directory.descriptor.entries()
                while let entry = try entries.next() {
                    // Skips items that are gone, and other filesystems mounted inside the home.
                    guard let found = try? directory.descriptor.status(of: entry.name),
                        found.raw.st_dev == status.raw.st_dev, found.kind == .file || found.kind == .directory
                    else { continue }
                    let holder = AttributeHolder(entry.name, in: directory.descriptor)
                    set(protection, holder, walk.path + [entry.name], failed)
                    if found.kind == .directory { walk.add(entry.name) }
                }
            } catch {
                report(error, walk.path)
            }
        }
    }

    /// Sets the class of one item. An item that is gone is no failure.
    private func set(
        _ protection: ProtectionClass, _ holder: AttributeHolder, _ place: @autoclosure () -> [FileName],
        _ failed: (Complaint) -> Void
    ) {
        let name = Array(ProtectionClass.attributeName.utf8)
        let value = Array(protection.foundationName.utf8)
        // Not set again if equal, because nothing may be set in the Inbox.
        if (try? holder.value(of: name)) == value { return }
        do throws(SystemError) {
            try holder.set(name, to: value)
        } catch {
            let place = place()
            let doing = "cannot protect \(text(place))"
            switch error {
            // Removed since the directory was listed.
            case .noEntry where !place.isEmpty: return
            case .notPermitted:
                failed(
                    Complaint(
                        .notAllowed,
                        "\(doing): the device is locked, or a rule of the sandbox keeps it as it is; "
                            + "see: appcontainer inspect \(text(place))"))
            case .accessDenied:
                failed(Complaint(.notAllowed, "\(doing): its mode does not let you write to it; change that first"))
            default: failed(Complaint(error, doing: doing))
            }
        }
    }

    /// A place as the user would name it: below the path that was given.
    private func text(_ place: [FileName]) -> String { ([path] + place.map(\.text)).joined(separator: "/") }
}
