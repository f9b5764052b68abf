// The container in which accesses to an item are coordinated: an app's own, a group's, an iCloud container, or the
// host.

import Foundation
import Glibc
import Platform
import SandboxModel

/// A container as this process sees it. Two apps of a group see theirs at different paths; paths in it are the same.
struct CoordinationPlace: Hashable, Sendable {
    /// Absolute and without links. Empty for the host, whose paths begin with no slash here.
    let root: String
    /// The directory that exists, and the ones below it down to the one in which processes meet.
    let parent: String
    let meetingPlace: [FileName]
    let isMounted: Bool

    func url(of path: String) -> URL {
        URL(fileURLWithPath: path.isEmpty && !root.isEmpty ? root : "\(root)/\(path)")
    }

    /// An item and its place.
    struct Item {
        let place: CoordinationPlace
        let path: String
    }

    /// - Parameter resolvingLink: whether a link at the end of the path is followed.
    static func item(at url: URL, resolvingLink: Bool = false) throws(SystemError) -> Item {
        let path = try canonical(url.path, resolvingLink: resolvingLink)
        guard let home = Home(around: path), !home.showsDocumentsAlone,
            let rest = HostPath.rest(of: path, in: home.path)
        else { return Item(place: .host, path: String(path.dropFirst())) }
        let names = HostPath.names(of: rest)
        guard names.count >= 2, let name = FileName(names[0]),
            name == HomeLayout.groups || name == HomeLayout.iCloud
        else {
            // Of an app's own: other apps have no business there, and nothing of it is backed up.
            let place = CoordinationPlace(
                root: home.path, parent: home.path, meetingPlace: [HomeLayout.temporary, meeting], isMounted: true)
            return Item(place: place, path: names.joined(separator: "/"))
        }
        let root = "\(home.path)/\(names[0])/\(names[1])"
        let place = CoordinationPlace(
            root: root, parent: root,
            meetingPlace: name == HomeLayout.groups ? [HomeLayout.library, HomeLayout.caches, meeting] : [meeting],
            isMounted: true)
        return Item(place: place, path: names.dropFirst(2).joined(separator: "/"))
    }

    private static let meeting: FileName = ".FileCoordination"

    /// For items off a mount: the processes of one user of this host.
    static var host: CoordinationPlace {
        CoordinationPlace(
            root: "", parent: hostDirectory ?? usualHostDirectory,
            meetingPlace: [FileName("\(meeting.text)-\(geteuid())")!], isMounted: false)
    }

    /// The same items, where their own container cannot be written to: processes of this user meet on the host.
    func onHost(_ status: FileStatus) -> CoordinationPlace {
        let name = FileName("\(status.raw.st_dev).\(status.raw.st_ino)")!
        let host = CoordinationPlace.host
        return CoordinationPlace(
            root: root, parent: host.parent, meetingPlace: host.meetingPlace + [name], isMounted: false)
    }

    /// Another directory than the usual one, for a test that makes files there.
    @TaskLocal static var hostDirectory: String?

    /// The user's own where there is one, and not one that the environment names, which is not the same for all.
    private static let usualHostDirectory: String = {
        let own = "/run/user/\(geteuid())"
        return (try? HostPath.status(own).owner) == geteuid() ? own : "/tmp"
    }()

    /// The path without links, of an item that need not exist.
    private static func canonical(_ path: String, resolvingLink: Bool) throws(SystemError) -> String {
        let absolute = try HostPath.absolute(HostPath.withoutTrailingSlashes(path))
        if resolvingLink, let resolved = try? HostPath.resolved(absolute) { return resolved }
        var rest = ""
        var current = absolute
        while let (directory, name) = HostPath.place(of: HostPath.withoutTrailingSlashes(current)) {
            rest = "/\(name.text)\(rest)"
            if let resolved = try? HostPath.resolved(directory) { return (resolved == "/" ? "" : resolved) + rest }
            current = directory
        }
        return try HostPath.resolved(current) + rest
    }
}
