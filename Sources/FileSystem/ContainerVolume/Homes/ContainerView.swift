// A group or iCloud container as one home shows it. The kernel has one place for a directory: so each home has nodes of
// its own for a container's directories, while a file is one node in all homes.

import SandboxModel
import Synchronization

/// One home's view of a container: each directory node of the container has the view of its home.
final class ContainerView: Sendable {
    let app: ContainerIdentifier
    private let container: ContainerSharing

    init(_ app: ContainerIdentifier, of container: ContainerSharing) {
        self.app = app
        self.container = container
    }

    /// The view of a directory that was moved to a place which the home does not show. A process that is in the
    /// directory still changes what other homes see.
    static func apart(_ app: ContainerIdentifier) -> ContainerView {
        ContainerView(app, of: ContainerSharing(isShared: true))
    }

    /// Whether other homes can change the entries, so that the kernel must ask each time.
    var isShared: Bool { container.isShared }
}

/// Whether several homes show a container, hidden homes that are still in use included.
///
/// Lock rule: none, the flag is an atomic. It changes under the lock of ``SharedContainers``.
final class ContainerSharing: Sendable {
    private let shared: Atomic<Bool>

    init(isShared: Bool = false) { shared = Atomic(isShared) }

    var isShared: Bool {
        get { shared.load(ordering: .acquiring) }
        set { shared.store(newValue, ordering: .releasing) }
    }
}

/// The homes that show each container of a device. A value: ``SharedContainers`` holds it under its lock.
struct ContainerViews {
    /// A container by the directory that lists it, `Groups` or `iCloud`, and its identifier.
    struct Place: Hashable {
        let directory: FileName
        let container: ContainerIdentifier
    }

    private struct Shown {
        let container = ContainerSharing()
        var views: [ContainerIdentifier: ContainerView] = [:]
    }

    private var shown: [Place: Shown] = [:]

    /// Adds a home to those that show a container.
    /// - Returns: the home's view, and the home that showed the container alone until now.
    mutating func add(_ app: ContainerIdentifier, to place: Place) -> (view: ContainerView, alone: ContainerIdentifier?)
    {
        if let view = shown[place]?.views[app] { return (view, nil) }
        var entry = shown[place] ?? Shown()
        let view = ContainerView(app, of: entry.container)
        let alone = entry.views.count == 1 ? entry.views.first?.key : nil
        entry.views[app] = view
        entry.container.isShared = entry.views.count > 1
        shown[place] = entry
        return (view, alone)
    }

    /// Whether other homes show one of this home's containers too.
    func isShared(by app: ContainerIdentifier) -> Bool {
        shown.values.contains { $0.container.isShared && $0.views[app] != nil }
    }

    /// Removes a home that is hidden and that nobody is in.
    mutating func remove(_ app: ContainerIdentifier) {
        for (place, var entry) in shown where entry.views.removeValue(forKey: app) != nil {
            entry.container.isShared = entry.views.count > 1
            shown[place] = entry.views.isEmpty ? nil : entry
        }
    }
}
