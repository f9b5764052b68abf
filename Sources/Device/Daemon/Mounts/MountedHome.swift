// The mounted app's home that a path of the host lies in, found in the kernel's list of mounts without a daemon.

import AppContainer
import ContainerMount
import Glibc
import Platform
public import SandboxModel

/// An app's home at a mount point, as the kernel's list has it.
public struct MountedHome: Sendable {
    /// The device directory's path, resolved. The source of the mount is `DEVICE:BUNDLE-ID`.
    public let device: String
    public let app: String
    public let mountPoint: String
    /// Where the mount point lies in the home; empty unless somebody bound a part of a home elsewhere.
    private let inner: [String]

    /// As mount(8) and findmnt(8) show it: the daemon mounts with the subtype `appcontainer`.
    static let filesystemType = "fuse.appcontainer"

    /// - Returns: nil for a mount of another filesystem.
    init?(_ info: MountInfo) {
        guard info.type == MountedHome.filesystemType, let colon = info.source.utf8.lastIndex(of: UInt8(ascii: ":"))
        else { return nil }
        device = String(info.source[..<colon])
        app = String(decoding: info.source.utf8[colon...].dropFirst(), as: UTF8.self)
        mountPoint = info.mountPoint
        // A bind of one app's home out of the device's one superblock names the home first.
        let root = HostPath.names(of: info.root)
        inner = root.first == app ? Array(root.dropFirst()) : root
    }

    /// The home mounted exactly there.
    /// - Throws: ``Complaint`` of kind `notMounted`.
    static func at(_ mountPoint: String) throws(Complaint) -> MountedHome {
        let homes = try all()
        for place in places(of: try absolute(mountPoint)) {
            // Of several mounts at one place the last one is visible.
            if let home = homes.last(where: { HostPath.areSame($0.mountPoint, place) }) { return home }
        }
        throw Complaint(
            .notMounted,
            "no app is mounted at \(mountPoint); see where some are with: findmnt -t \(filesystemType)")
    }

    /// The home that a path lies in, and the path from the home's root.
    /// - Throws: ``Complaint`` of kind `notMounted` or `notFound`.
    public static func containing(_ path: String) throws(Complaint) -> (home: MountedHome, path: String) {
        let homes = try all()
        for place in places(of: try absolute(path)) {
            let around = homes.filter { HostPath.rest(of: place, in: $0.mountPoint) != nil }
            // The innermost, and of two at one place the last one made.
            guard let depth = around.map(\.mountPoint.utf8.count).max(),
                let home = around.last(where: { $0.mountPoint.utf8.count == depth })
            else { continue }
            do throws(SystemError) {
                _ = try HostPath.status(place, following: false)
            } catch {
                throw Complaint(.notFound, "cannot look at \(path): \(error.message)")
            }
            let rest = HostPath.names(of: HostPath.rest(of: place, in: home.mountPoint) ?? "")
            return (home, (home.inner + rest).joined(separator: "/"))
        }
        throw Complaint(
            .notMounted,
            "\(path) is not in a mounted app's home; see where some are with: findmnt -t \(filesystemType)")
    }

    /// Ends the mount at a mount point: through its daemon, or directly where that was killed.
    /// - Throws: ``Complaint`` of kind `notMounted`, `inUse` or `notAllowed`.
    public static func unmount(_ mountPoint: String, lazy: Bool) async throws(Complaint) {
        let home = try at(mountPoint)
        let request = UnmountRequest(mountPoint: home.mountPoint, lazy: lazy)
        if try await DaemonLauncher.askRunning(
            home.device, { (client) throws(DeviceError) in try await client.send(request) }) != nil
        {
            return
        }
        // A daemon that has just ended may have unmounted before.
        guard (try? at(mountPoint)) != nil else { return }
        try ForeignDaemon.requireNone(of: home.device)
        try AbandonedMount.remove(home.mountPoint)
        try DaemonLauncher.clearAbandoned(home.device)
    }

    /// The mount points of the homes that this user may unmount, the first mounted first: root's program has them all.
    /// None where the kernel does not tell.
    public static func mountPoints() -> [String] {
        let mounts = (try? MountInfo.all()) ?? []
        let isOwn = { (mount: MountInfo) in
            geteuid() == 0 || mount.filesystemOptions.split(separator: ",").contains("user_id=\(geteuid())")
        }
        var places: [String] = []
        for mount in mounts where isOwn(mount) {
            guard let home = MountedHome(mount), !places.contains(home.mountPoint) else { continue }
            places.append(home.mountPoint)
        }
        return places
    }

    private static func all() throws(Complaint) -> [MountedHome] {
        try Complaint.wrap("cannot read the list of mounts") { () throws(SystemError) in
            try MountInfo.all().compactMap(MountedHome.init)
        }
    }

    private static func absolute(_ path: String) throws(Complaint) -> String {
        try Complaint.wrap("cannot tell the present directory") { () throws(SystemError) in
            try HostPath.absolute(path)
        }
    }

    /// The path without links: first but for its last name, because a link in a home is looked at itself and a
    /// mount point whose daemon has died answers no call; then altogether.
    private static func places(of path: String) -> [String] {
        guard !path.isEmpty else { return [] }
        let path = HostPath.withoutTrailingSlashes(path)
        let resolved = try? HostPath.resolved(path)
        let slash = HostPath.lastSlash(in: path) ?? path.startIndex
        let name = String(decoding: path.utf8[slash...].dropFirst(), as: UTF8.self)
        var places: [String] = []
        if !name.isEmpty, name != ".", name != ".." {
            let parent = slash == path.startIndex ? "/" : String(path[..<slash])
            let above = (try? HostPath.resolved(parent)) ?? parent
            places.append(above == "/" ? "/\(name)" : "\(above)/\(name)")
        }
        if let resolved, !places.contains(resolved) { places.append(resolved) }
        return places
    }
}
