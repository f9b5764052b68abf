// The containers that a backup walks through.

import BackingStore
import BackupModel
import Platform
import SandboxModel

/// A container of a backup, open.
struct BackedUpContainer: Sendable {
    let domain: BackupDomain
    let kind: ContainerKind
    let directory: SharedDescriptor
    /// Tells whether another container has come into its place.
    let identity: FileStatus.Identity
}

extension BootedDevice {
    /// The containers of one app with its groups, or of all apps, in order. Waits for an operation that changes
    /// containers: an update gives a container another name.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    func backedUpContainers(of app: ContainerIdentifier?) throws(Complaint) -> [BackedUpContainer] {
        try installedApps.changing { (_) throws(Complaint) in try openBackedUpContainers(of: app) }
    }

    private func openBackedUpContainers(of app: ContainerIdentifier?) throws(Complaint) -> [BackedUpContainer] {
        var domains = Set<BackupDomain>()
        for app in try backupApps(app) {
            domains.insert(app.domain)
            domains.formUnion(app.groups.map { .group($0) })
        }
        let registry = registry
        if app == nil {
            domains.formUnion(registry.waiting.filter { $0.kind == .group }.map { .group($0.identifier) })
        }
        var containers: [BackedUpContainer] = []
        for domain in domains.sorted() {
            let (kind, identifier): (ContainerKind, ContainerIdentifier)
            switch domain {
            case .app(let app), .plugin(let app): (kind, identifier) = (.data, app)
            case .group(let group): (kind, identifier) = (.group, group)
            case .other: continue
            }
            // A group that an app waited with may have gone with another.
            guard let uuid = registry.container(kind, identifier) else { continue }
            let container = try Complaint.wrap("cannot open the container of \(identifier)") {
                () throws(SystemError) in
                let container = SharedDescriptor(try directory.container(kind, uuid))
                let identity = try container.descriptor.status().identity
                return BackedUpContainer(domain: domain, kind: kind, directory: container, identity: identity)
            }
            containers.append(container)
        }
        return containers
    }
}
