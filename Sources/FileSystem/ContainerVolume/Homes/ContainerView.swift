// A group or iCloud container as one home shows it. The kernel has one place for a directory, wherever it was looked up:
// so each home has nodes of its own for a container's directories, while a file is one node in all of them.

import SandboxModel
import Synchronization

/// Whose nodes the directories are that a home shows of a container.
final class ContainerView: Sendable {
    let app: ContainerIdentifier
    private let container: ContainerSharing

    init(_ app: ContainerIdentifier, of container: ContainerSharing) {
        self.app = app
        self.container = container
    }

    /// Of a directory that was moved to where the home does not see it: those who are in it still change what others see.
    static func apart(_ app: ContainerIdentifier) -> ContainerView {
        ContainerView(app, of: ContainerSharing(isShared: true))
    }

    /// Whether the kernel is to ask each time: what it caches for one home, others change.
    var isShared: Bool { container.isShared }
}

/// Whether several homes show a container, one that is hidden and still in use included.
final class ContainerSharing: Sendable {
    private let shared: Atomic<Bool>

    init(isShared: Bool = false) { shared = Atomic(isShared) }

    var isShared: Bool {
        get { shared.load(ordering: .acquiring) }
        set { shared.store(newValue, ordering: .releasing) }
    }
}

/// Which homes show which containers of a device.
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

    /// The view of a home, which from now on is one of those that show the container.
    /// - Returns: with it, who showed it alone until now.
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

    /// Whether others show one of a home's containers too.
    func isShared(by app: ContainerIdentifier) -> Bool {
        shown.values.contains { $0.container.isShared && $0.views[app] != nil }
    }

    /// A home is shown no more, and nobody is in it.
    mutating func remove(_ app: ContainerIdentifier) {
        for (place, var entry) in shown where entry.views.removeValue(forKey: app) != nil {
            entry.container.isShared = entry.views.count > 1
            shown[place] = entry.views.isEmpty ? nil : entry
        }
    }
}
