// A file or directory of a mounted home whose attributes a command changes.

import ArgumentParser
import BackingStore
import Daemon
import Glibc
import Platform
import SandboxModel

/// A file or directory in a mounted home, for `protect`, `exclude` and `include`. Symbolic links have no such
/// attributes.
struct HomeEntry {
    /// As the user named it.
    let path: String
    /// A reference without the content (`O_PATH`), so that the device's state does not matter.
    let node: SharedDescriptor
    let status: FileStatus

    /// Opens a file or directory of a mounted home.
    /// - Parameter kept: the property that only files and directories have, for the error message.
    /// - Throws: ``Complaint`` of kind `notMounted` or `unsuitableFile`, or with the host's error.
    private init(_ path: String, kept: String) throws(Complaint) {
        let home = try MountedHome.containing(path).home
        let doing = "cannot look at \(path)"
        let node = try Complaint.wrap(doing) { () throws(SystemError) in
            SharedDescriptor(try Descriptor.openNode(path: path))
        }
        let status = try Complaint.wrap(doing) { () throws(SystemError) in try node.descriptor.status() }
        guard status.kind == .file || status.kind == .directory else {
            throw Complaint(.unsuitableFile, "\(path) has no \(kept): it is neither a file nor a directory")
        }
        // On another filesystem, mounted inside the home, the attribute would have no meaning.
        guard (try? HostPath.status(home.mountPoint).raw.st_dev) == status.raw.st_dev else {
            throw Complaint(.notMounted, "\(path) is not of the app's home, but of what is mounted inside it")
        }
        self.path = path
        self.node = node
        self.status = status
    }

    /// Runs `body` for each path, and reports failures without stopping.
    ///
    /// - Parameter body: reports further failures through its second argument.
    /// - Throws: the exit code of the first failure.
    static func each(
        _ paths: [String], kept: String, _ body: (HomeEntry, (Complaint) -> Void) throws(Complaint) -> Void
    ) throws(ExitCode) {
        var first: Complaint.Kind?
        func failed(_ complaint: Complaint) {
            StandardError.complain(complaint.message)
            first = first ?? complaint.kind
        }
        for path in paths {
            do throws(Complaint) {
                try body(HomeEntry(path, kept: kept), failed)
            } catch {
                failed(error)
            }
        }
        if let first { throw ExitCode(first.exitCode) }
    }
}
