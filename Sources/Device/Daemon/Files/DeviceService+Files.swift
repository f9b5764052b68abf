// The requests about the files of an app's home, and the handler of a listing.

import AppContainer
import BackingStore
import ContainerVolume
import ControlServer
import DeviceLifecycle
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about the files of an app's home.
    static let fileRoutes: [Route<DeviceService>] = [
        .inTurn({ $0.listings }, files), .call(exclude), .call(include), .work(protect), .followChanges(followChanges),
    ]

    /// The changes of files from now on, each place some times a second at most. They last as long as the response
    /// refers to the follower.
    func followChanges() -> ChangeFollower { changes.follow() }

    /// Lists a part of a directory's content.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `badRequest`, or of the fault that the directory has.
    func files(_ request: FilesRequest, for client: ClientDisconnect) throws(Complaint) -> FileListing {
        let app = try device.app(try identifier(request.app))
        let text = request.path ?? ""
        let order = ListingOrder(
            directory: try homePath(text, request.pathBytes), isRecursive: request.recursive ?? false,
            after: try request.after.map { (place) throws(Complaint) in
                guard let path = PathBytes.path(place) else { throw Complaint.foreignPlace }
                return path
            },
            limit: request.limit ?? FilesRequest.usual, isAbandoned: { client.hasOccurred })
        guard order.beginsInside else { throw Complaint.foreignPlace }
        let listing: Listing
        do throws(LookFailure) {
            listing = try mounts.contents(order, of: app)
        } catch {
            throw Complaint(error, doing: "cannot list", order.directory)
        }
        return FileListing(
            app: app.identifier.text, path: text, files: listing.entries.map { FileListing.File($0) },
            next: listing.isComplete ? nil : listing.end.map { PathBytes.text($0.joined) })
    }
}

extension Complaint {
    fileprivate static let foreignPlace = Complaint(
        .badRequest, "files: \"after\" is not the \"next\" of a part of this listing")
}

extension FileListing.File {
    fileprivate init(_ node: ListedNode) {
        self.init(
            path: node.path.text, kind: node.shown.kind.word, size: node.shown.size,
            storedSize: node.shown.blocks * 512, modified: EventTime.text(HostTime(node.shown.modificationTime)),
            mode: String(node.shown.permissions, radix: 8), links: node.shown.linkCount,
            fileNumber: node.shown.inode, protection: node.protection?.foundationName,
            backup: String(decoding: node.inclusion.attributeValue, as: UTF8.self), excluded: node.isExcluded,
            purgeable: node.isPurgeable, target: node.target.map { String(decoding: $0, as: UTF8.self) },
            fault: node.fault?.words,
            pathBytes: PathBytes.unlessText(node.path.joined))
    }
}
