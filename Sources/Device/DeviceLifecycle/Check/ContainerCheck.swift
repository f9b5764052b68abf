// The walk through one container, and the look at one file.

import BackingStore
import DataProtection
import Glibc
import Platform
import SandboxModel

/// Checks all files of one container. Whatever goes wrong with one is a problem to report; the walk goes on.
struct ContainerCheck {
    let name: String
    let context: StoreContext
    let isPrivileged: Bool
    private let attempts = 5
    /// Files with several names that were looked at under one of them.
    private var seen: Set<UInt64> = []

    init(name: String, context: StoreContext, isPrivileged: Bool) {
        self.name = name
        self.context = context
        self.isPrivileged = isPrivileged
    }

    /// - Returns: false when `progress` ended it.
    mutating func run(
        _ container: borrowing Descriptor, openFile: (UInt64) -> EncryptedFile?, into check: inout DeviceCheck,
        progress: (Int64) -> Bool
    ) -> Bool {
        var pending: [[FileName]] = [[]]
        // Directories whose mode keeps their own ordinary user out: opened for the walk, closed after it.
        var lifted: [(path: [FileName], mode: mode_t)] = []
        defer {
            for (path, mode) in lifted.reversed() {
                try? container.openDirectory(at: path.dropLast()).changeMode(of: path[path.count - 1], to: mode)
            }
        }
        while let path = pending.popLast() {
            do throws(SystemError) {
                let directory = try container.openDirectory(at: path)
                let reader = try directory.entries()
                while let entry = try reader.next() {
                    guard let status = try? directory.status(of: entry.name) else { continue }
                    let entryPath = path + [entry.name]
                    switch status.kind {
                    case .directory:
                        if !isPrivileged, status.permissions & S_IRWXU != S_IRWXU {
                            lifted.append((entryPath, status.permissions))
                            try? directory.changeMode(of: entry.name, to: status.permissions | S_IRWXU)
                        }
                        pending.append(entryPath)
                    case .file:
                        if status.linkCount > 1, !seen.insert(status.inode).inserted { continue }
                        guard
                            look(at: entry.name, entryPath, status, directory, openFile, into: &check, progress)
                        else { return false }
                    case .symbolicLink, .fifo, .socket, .device:
                        continue
                    }
                }
            } catch {
                // Removed while the walk was on its way.
                guard error != .noEntry else { continue }
                report("cannot be looked into: \(error.message)", path, into: &check)
            }
        }
        return true
    }

    private func report(_ message: String, _ path: [FileName], into check: inout DeviceCheck) {
        check.problems.append(DeviceCheck.Problem(container: name, path: path.text, message: message))
    }

    private func look(
        at name: FileName, _ path: [FileName], _ status: FileStatus, _ directory: borrowing Descriptor,
        _ openFile: (UInt64) -> EncryptedFile?, into check: inout DeviceCheck, _ progress: (Int64) -> Bool
    ) -> Bool {
        var status = status
        // Measured by the backing file, whose length is more than the content's.
        var remaining = status.size
        func counting(_ count: Int64) -> Bool {
            let counted = min(count, remaining)
            remaining -= counted
            return progress(counted)
        }
        // Somebody may write the file between two looks at it: what fails then is looked at again.
        for attempt in 1...attempts {
            let live = openFile(status.inode)
            let outcome = FileCheck.Outcome(
                name, directory, status, context: context, live: live, isPrivileged: isPrivileged,
                progress: counting)
            switch outcome {
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
                guard let now = try? directory.status(of: name) else { break }
                let wasOpened = live == nil && openFile(now.inode) != nil
                if attempt < attempts, wasOpened || now.changed(since: status) {
                    status = now
                    continue
                }
                check.files += 1
                for message in messages { report(message, path, into: &check) }
            case .cancelled:
                return false
            }
            break
        }
        return counting(remaining)
    }
}

extension FileStatus {
    fileprivate func changed(since earlier: FileStatus) -> Bool {
        inode != earlier.inode
            || raw.st_ctim.tv_sec != earlier.raw.st_ctim.tv_sec || raw.st_ctim.tv_nsec != earlier.raw.st_ctim.tv_nsec
    }
}
