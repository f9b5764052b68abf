// The walk through one container of a check, in which other processes may be at work meanwhile.

import BackingStore
import DataProtection
import Glibc
import Platform
import SandboxModel

/// Checks all files of one container. An error of one file is a problem to report; the walk goes on.
struct ContainerCheck {
    /// A file that the walk has come to.
    private struct Found {
        let name: FileName
        let status: FileStatus
        let directory: SharedDescriptor
        /// The walk, which is in the file's directory.
        let walk: TreeWalk

        /// From the container. Made only where a problem is reported: its length is up to the app.
        var path: [FileName] { walk.path + [name] }
    }

    /// The identifier under which problems are reported.
    private let name: String
    private let files: FileCheck
    private let repairs: Bool
    /// How often a file is read that others may be writing.
    private static let attempts = 5
    /// Files with several names that were checked under one of them.
    private var seen: Set<UInt64> = []

    /// - Parameter repairs: whether set-ID bits are taken from backing files.
    init(name: String, context: StoreContext, repairs: Bool) {
        self.name = name
        self.repairs = repairs
        files = FileCheck(context: context)
    }

    /// - Parameters:
    ///   - openFile: the file that a volume has open for an inode of the host; nil if none has.
    ///   - progress: gets the number of bytes checked since its last call; false ends the check.
    /// - Returns: false when `progress` ended it.
    mutating func run(
        _ container: borrowing Descriptor, openFile: (UInt64) -> EncryptedFile?, into check: inout DeviceCheck,
        progress: (Int64) -> Bool
    ) -> Bool {
        let top: SharedDescriptor
        do throws(SystemError) {
            top = SharedDescriptor(try container.duplicate())
        } catch {
            report("cannot be looked into: \(error.message)", [], into: &check)
            return true
        }
        let walk = TreeWalk(top, liftsModes: !files.isPrivileged)
        var failures: [(error: SystemError, path: [FileName])] = []
        defer {
            for (error, path) in failures { report("cannot be looked into: \(error.message)", path, into: &check) }
        }
        func note(_ error: SystemError, at name: FileName) {
            // Removed while the walk was on its way.
            if error != .noEntry { failures.append((error, walk.path + [name])) }
        }
        while let directory = walk.next(failed: note) {
            do throws(SystemError) {
                let reader = try directory.descriptor.entries()
                while let entry = try reader.next() {
                    guard let status = try? directory.descriptor.status(of: entry.name) else { continue }
                    switch status.kind {
                    case .directory:
                        walk.add(entry.name)
                    case .file:
                        if status.linkCount > 1, !seen.insert(status.inode).inserted { continue }
                        let found = Found(name: entry.name, status: status, directory: directory, walk: walk)
                        checkMode(of: found, into: &check)
                        guard self.check(found, openFile, into: &check, progress) else { return false }
                    case .symbolicLink, .fifo, .socket, .device:
                        continue
                    }
                }
            } catch {
                // Removed while the walk was on its way.
                if error != .noEntry { failures.append((error, walk.path)) }
            }
        }
        return true
    }

    /// Adds a problem to the result.
    private func report(_ message: String, _ path: [FileName], into check: inout DeviceCheck) {
        check.problems.append(DeviceCheck.Problem(container: name, path: path.text, message: message))
    }

    /// No backing file has a set-ID bit (`NodeModes`): one that has was given it by somebody else.
    private func checkMode(of file: Found, into check: inout DeviceCheck) {
        guard file.status.hasSetID else { return }
        let problem = DeviceCheck.Problem(container: name, path: file.path.text, message: FileStatus.setIDProblem)
        let directory = file.directory
        if repairs, (try? directory.descriptor.changeMode(of: file.name, to: file.status.hostPermissions)) != nil {
            check.repaired.append(problem)
        } else {
            check.problems.append(problem)
        }
    }

    /// Checks one file, again while other processes change it.
    /// - Returns: false when `progress` ended it.
    private func check(
        _ file: Found, _ openFile: (UInt64) -> EncryptedFile?, into check: inout DeviceCheck,
        _ progress: (Int64) -> Bool
    ) -> Bool {
        var status = file.status
        // Measured by the backing file, whose length is more than the content's.
        var remaining = status.size
        func counting(_ count: Int64) -> Bool {
            let counted = min(count, remaining)
            remaining -= counted
            return progress(counted)
        }
        // Another process may write the file while it is read: a file that fails then is read again.
        let attempts = ContainerCheck.attempts
        for attempt in 1...attempts {
            let live = openFile(status.inode)
            switch files.check(file.name, in: file.directory.descriptor, status, live: live, progress: counting) {
            case .whole:
                check.files += 1
            case .closed:
                check.unreadable += 1
            case .gone:
                break
            case .restarted:
                if attempt < attempts { continue }
                check.unreadable += 1
            case .damaged(let messages):
                guard let now = try? file.directory.descriptor.status(of: file.name) else { break }
                // A writer came in between: the next attempt reads through its file.
                let wasOpened = live == nil && openFile(now.inode) != nil
                if attempt < attempts, wasOpened || now.changed(since: status) {
                    status = now
                    continue
                }
                check.files += 1
                for message in messages { report(message, file.path, into: &check) }
            case .cancelled:
                return false
            }
            break
        }
        return counting(remaining)
    }
}

extension FileStatus {
    static let setIDProblem = "its backing file has a set-user-ID or set-group-ID bit, which appcontainer gives to none"

    /// Whether the status is of a file that has a set-ID bit on the host.
    var hasSetID: Bool { kind == .file && mode & (S_ISUID | S_ISGID) != 0 }

    /// Whether the host's file was written, or replaced by another, since an earlier look (st_ctim of stat(2)).
    fileprivate func changed(since earlier: FileStatus) -> Bool {
        inode != earlier.inode
            || raw.st_ctim.tv_sec != earlier.raw.st_ctim.tv_sec || raw.st_ctim.tv_nsec != earlier.raw.st_ctim.tv_nsec
    }
}
