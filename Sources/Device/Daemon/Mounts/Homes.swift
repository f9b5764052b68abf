// The mount points that a device makes, for requests that name none.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Directories beside the control socket. Each is named after its app's data container, as on iOS, so that no app can
/// rely on its home's path.
struct Homes: Sendable {
    /// The purpose of a mount; the raw value is the directory's name.
    enum Purpose: String, CaseIterable {
        /// Ends with the last lease on the app.
        case toRun = "homes"
        /// Stays until it is unmounted.
        case toStay = "mounts"
    }

    /// A directory of this device alone: a copy of the device has containers of the same names.
    let directory: String
    /// The mode of the directories that are made.
    let mode: mode_t

    /// Makes the directory for an app's home; one that is there is used.
    /// - Parameter container: the UUID of the data container.
    /// - Returns: the path.
    func make(_ purpose: Purpose, of container: String) throws(Complaint) -> String {
        let parent = "\(directory)/\(purpose.rawValue)"
        let path = "\(parent)/\(container)"
        let above = HostPath.place(of: directory)?.directory
        let directories = [above, directory, parent, path].compactMap { $0 }
        try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            for attempt in 1... {
                do throws(SystemError) {
                    for directory in directories { try HostDirectory.make(directory, mode: mode) }
                    return
                } catch {
                    // The end of another mount has removed a directory that it found empty.
                    guard error == .noEntry, attempt < Homes.mostAttempts else { throw error }
                }
            }
        }
        return path
    }

    /// Each further one takes the end of another mount, in the moment between two calls.
    private static let mostAttempts = 100

    /// Whether a mount point was made here, for a purpose.
    func contain(_ mountPoint: String, _ purpose: Purpose) -> Bool {
        mountPoint.hasPrefix("\(directory)/\(purpose.rawValue)/")
    }

    /// Removes all directories, after their mounts are gone: at the end, and what a killed daemon has left. Also the
    /// empty ones, of a daemon that was killed before it made a mount point or after it removed the last.
    func removeAll() {
        for purpose in Purpose.allCases {
            let parent = "\(directory)/\(purpose.rawValue)"
            let names = ActingUser.asSuperuser {
                try? Descriptor.open(path: parent, flags: O_RDONLY | O_DIRECTORY).names(where: { _ in true })
            }
            for name in names ?? [] { try? HostDirectory.remove("\(parent)/\(name.text)") }
            try? HostDirectory.remove(parent)
        }
        try? HostDirectory.remove(directory)
    }

    /// Removes a mount point that was made here, and the directories above it that are empty. Ignores any other path.
    func remove(_ mountPoint: String) {
        guard HostPath.lies(mountPoint, below: directory) else { return }
        var path = mountPoint
        while !HostPath.areSame(path, directory), let parent = HostPath.place(of: path)?.directory {
            guard (try? HostDirectory.remove(path)) != nil else { return }
            path = parent
        }
        try? HostDirectory.remove(directory)
    }
}
