// The directories that a device's apps are mounted at where nobody named one.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// Named as the apps' data containers are, as on iOS, so that no app can rely on its home's path.
struct Homes: Sendable {
    /// What an app is mounted for.
    enum Purpose: String, CaseIterable {
        /// For as long as something runs in it.
        case toRun = "homes"
        /// Until somebody unmounts it.
        case toStay = "mounts"
    }

    /// The device's own: a copy of the device has containers of the same names.
    let directory: String

    /// Makes the directory for an app's home.
    func make(_ purpose: Purpose, of container: String) throws(Complaint) -> String {
        let parent = "\(directory)/\(purpose.rawValue)"
        let path = "\(parent)/\(container)"
        try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            for directory in [directory, parent, path] {
                do throws(SystemError) {
                    try HostPath.makeDirectory(directory, mode: S_IRWXU)
                } catch {
                    guard error == .exists else { throw error }
                }
            }
        }
        return path
    }

    /// Whether a mount point was made here, for a purpose.
    func contain(_ mountPoint: String, _ purpose: Purpose) -> Bool {
        mountPoint.hasPrefix("\(directory)/\(purpose.rawValue)/")
    }

    /// Takes away what a killed daemon left, after its mounts.
    func removeAll() {
        for purpose in Purpose.allCases {
            let parent = "\(directory)/\(purpose.rawValue)"
            guard let directory = try? Descriptor.open(path: parent, flags: O_RDONLY | O_DIRECTORY),
                let names = try? directory.names(where: { _ in true })
            else { continue }
            for name in names { remove("\(parent)/\(name.text)") }
        }
    }

    /// Takes a mount point away that was made here, and what no other needs any more; any other is its maker's.
    func remove(_ mountPoint: String) {
        guard mountPoint.hasPrefix(directory + "/") else { return }
        var path = mountPoint
        while path != directory, let parent = HostPath.place(of: path)?.directory {
            guard (try? HostPath.removeDirectory(path)) != nil else { return }
            path = parent
        }
        try? HostPath.removeDirectory(directory)
    }
}
