// The handler of a request about one path of an app's home.

import AppContainer
import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension DeviceService {
    /// Describes a path of an app's home: its rules, its class, its place in a backup and on the host.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `badRequest`, or of the fault that the path has.
    func inspect(_ request: InspectRequest) throws(Complaint) -> Inspection {
        let app = try device.app(try identifier(request.app))
        let path = try homePath(request.path, request.pathBytes)
        let found: NodeInspection
        do throws(LookFailure) {
            found = try mounts.inspect(path, of: app)
        } catch {
            throw Complaint(error, doing: "cannot look at", path)
        }
        var inspection = Inspection(
            path: request.path, app: app.identifier.text, kind: found.shown.kind.word, zone: "\(found.zone)",
            rule: found.zone.words, protection: found.protection?.foundationName, readable: found.isReadable,
            size: found.shown.size, storedSize: found.stored.blocks * 512, owner: found.shown.owner,
            group: found.shown.group, mode: String(found.shown.permissions, radix: 8),
            backup: String(decoding: found.inclusion.attributeValue, as: UTF8.self), excluded: found.isExcluded,
            // A CACHEDIR.TAG is made up by the mount and has no file on the host.
            backing: found.zone == .cacheTag ? nil : try backing(path, of: app))
        inspection.team = app.signature?.team
        inspection.signer = app.signature?.signerName
        inspection.entitlements = app.signature?.entitlements.values
        inspection.add(found, at: path, of: app, state: device.deviceState)
        return inspection
    }

    /// The path in the device directory of a path in a home.
    /// - Returns: nil for `Groups` and `iCloud`: only their entries are containers.
    private func backing(_ path: [FileName], of app: InstalledApp) throws(Complaint) -> String? {
        let top = path.first
        let start: String
        let rest: ArraySlice<FileName>
        switch top {
        case HomeLayout.groups, HomeLayout.iCloud:
            guard path.count > 1, let shared = ContainerIdentifier(path[1].text) else { return nil }
            start = try device.backingPath(of: app.identifier, .shared(shared))
            rest = path.dropFirst(2)
        case app.bundleName:
            start = try device.backingPath(of: app.identifier, .app)
            rest = path.dropFirst()
        default:
            start = try device.backingPath(of: app.identifier, .data)
            rest = path[...]
        }
        return ([start] + rest.map(\.text)).joined(separator: "/")
    }
}

extension DeviceService {
    /// The names of a path in an app's home.
    /// - Parameter bytes: the path in base64, in the place of the text; nil for the text.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    func homePath(_ text: String, _ bytes: String?) throws(Complaint) -> [FileName] {
        if let bytes {
            guard let path = PathBytes.path(bytes) else {
                throw Complaint(.badRequest, "\"pathBytes\" are not those of a path within a home")
            }
            return path
        }
        var path: [FileName] = []
        for part in HostPath.names(of: text) {
            guard let name = FileName(part) else {
                throw Complaint(.badRequest, "\(Array(text.utf8).shown) is not a path within a home")
            }
            path.append(name)
        }
        return path
    }
}

extension FileStatus.Kind {
    /// The word of the control API.
    var word: String {
        switch self {
        case .file: "file"
        case .directory: "directory"
        case .symbolicLink: "symbolicLink"
        case .fifo: "fifo"
        case .socket: "socket"
        case .device: "device"
        }
    }
}
