// The places on the host of what an app sees.

import BackingStore
public import SandboxModel

/// A part of an app's home that has a directory of its own on the host.
public enum BackingPlace: Hashable, Sendable {
    /// The `.app` directory.
    case app
    /// The data container.
    case data
    /// A group or iCloud container.
    case shared(ContainerIdentifier)
}

extension BootedDevice {
    /// The path on the host that backs a part of an app's home. Nothing is looked up there.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `notFound` when the app has no such container.
    public func backingPath(of identifier: ContainerIdentifier, _ place: BackingPlace) throws(Complaint) -> String {
        let app = try app(identifier)
        switch place {
        case .app:
            return directory.path(of: .bundle, app.bundle) + "/" + app.bundleName.text
        case .data:
            return directory.path(of: .data, app.data)
        case .shared(let shared):
            if let group = app.groups.first(where: { $0.identifier == shared }) {
                return directory.path(of: .group, group.uuid)
            }
            if let container = app.iCloud.first(where: { $0.identifier == shared }) {
                return directory.path(of: .iCloud, container.uuid)
            }
            throw Complaint(.notFound, "\(identifier) has no group or iCloud container \(shared)")
        }
    }
}
