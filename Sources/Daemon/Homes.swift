// The directories that apps are mounted at where nobody named one.

import ContainerMount
import Glibc
import Platform
import SandboxModel

/// Named as the apps' data containers are, as on iOS, so that no app can rely on its home's path.
enum Homes: CaseIterable {
    /// For as long as something runs in the app.
    case toRun
    /// Until somebody unmounts it.
    case toStay

    /// - Parameter neighbour: a path in the runtime directory.
    func path(of container: String, besides neighbour: String) -> String {
        "\(directory(besides: neighbour))/\(container)"
    }

    private func directory(besides neighbour: String) -> String {
        let runtime = neighbour[..<(neighbour.lastIndex(of: "/") ?? neighbour.startIndex)]
        let name =
            switch self {
            case .toRun: MountTable.runDirectory
            case .toStay: MountTable.stayDirectory
            }
        return "\(runtime)/\(name)"
    }

    static func make(_ path: String) throws(Complaint) {
        let parent = String(path[..<path.lastIndex(of: "/")!])
        try Complaint.wrap("cannot make \(path)") { () throws(SystemError) in
            for directory in [parent, path] {
                do throws(SystemError) {
                    try HostPath.makeDirectory(directory, mode: S_IRWXU)
                } catch {
                    guard error == .exists else { throw error }
                }
            }
        }
    }

    /// Whether a mount point was made here.
    func contain(_ mountPoint: String, besides neighbour: String) -> Bool {
        mountPoint.hasPrefix(directory(besides: neighbour) + "/")
    }

    /// Takes a mount point away that was made here; any other is its maker's.
    static func remove(_ mountPoint: String, besides neighbour: String) {
        guard allCases.contains(where: { $0.contain(mountPoint, besides: neighbour) }) else { return }
        try? HostPath.removeDirectory(mountPoint)
    }
}
