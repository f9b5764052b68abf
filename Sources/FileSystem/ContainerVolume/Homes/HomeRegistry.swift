// The homes that a volume shows, and what the kernel forgets when containers come to be shared.

import Platform
import SandboxModel
import Synchronization

/// The homes of a volume, by bundle identifier.
///
/// Lock rule: the lock of the dictionary is a leaf. Methods take the volume's `names` themselves, and are called with
/// no lock of the volume held, unless their comment says otherwise.
final class HomeRegistry: Sendable {
    let sharing: SharedContainers
    private let homes = Mutex<[ContainerIdentifier: Home]>([:])
    private let table: NodeTable
    private let names: ReadWriteLock
    private let kernel: KernelCacheReference

    init(table: NodeTable, names: ReadWriteLock, kernel: KernelCacheReference) {
        self.table = table
        self.names = names
        self.kernel = kernel
        sharing = SharedContainers(isDevice: table.root.kind == .device)
    }

    // MARK: Looking. Any lock may be held.

    /// The home of an entry of the device's root.
    func home(named name: FileName) -> Home? {
        ContainerIdentifier(name.text).flatMap { app in homes.withLock { $0[app] } }
    }

    /// All homes, in the order of their identifiers.
    var all: [Home] { homes.withLock { Array($0.values) }.sorted { $0.app < $1.app } }

    var count: Int { homes.withLock { $0.count } }

    private func isShown(_ app: ContainerIdentifier) -> Bool { homes.withLock { $0[app] != nil } }

    /// The node of a home, if the kernel knows it.
    func node(of data: SharedDescriptor) -> Node? {
        table.root.kind == .home
            ? table.root : (try? data.descriptor.status().inode).flatMap { table.known(inode: $0) }
    }

    // MARK: Showing and hiding

    /// Shows a home, or shows it anew after its containers changed.
    /// - Returns: the containers that this home is the second to show.
    @discardableResult
    func show(_ home: Home) -> NewlyShared {
        homes.withLock { $0[home.app] = home }
        defer {
            names.writing {
                if let node = node(of: home.data) { set(home, of: node) }
            }
        }
        return sharing.add(home)
    }

    /// Makes a node stand for a home. The caller holds `names` exclusively.
    func set(_ home: Home, of node: Node) {
        // A reader of a node's home holds `names` or the table's lock.
        table.withNames(of: node) { $0.scope?.ownHome = home }
    }

    /// Hides a home. Its open files stay open.
    func hide(_ app: ContainerIdentifier) {
        guard let home = homes.withLock({ $0.removeValue(forKey: app) }) else { return }
        // As long as the kernel knows the home's node, somebody may be in it.
        if node(of: home.data) == nil { return sharing.remove(app) }
        if sharing.isShared(by: app) { forgetHidden(app) }
    }

    /// The kernel has forgotten the node of a home. Any lock may be held.
    func recordForgotten(_ app: ContainerIdentifier) {
        if !isShown(app) { sharing.remove(app) }
    }

    /// Applies an update to a home, if it is shown. Any lock may be held.
    func apply(_ update: HomeUpdate) {
        homes.withLock { $0[update.app] = $0[update.app]?.updated(update) }
    }

    /// Counts a home that is about to be updated among those that show its new containers.
    func share(_ update: HomeUpdate) -> NewlyShared {
        let hidden = names.reading { node(of: update.data).flatMap { table.withNames(of: $0) { $0.ownHome } } }
        guard let home = homes.withLock({ $0[update.app] }) ?? hidden else { return NewlyShared() }
        return sharing.add(home.updated(update))
    }

    // MARK: The kernel's cache when a container comes to be shared

    /// Has the kernel forget what it caches of containers, absence included, as far as nobody uses it.
    func forget(_ shared: NewlyShared) {
        guard let kernel = kernel.current else { return }
        for (parent, container) in known(shared) { kernel.forgetEntry(container.name!, in: parent.id) }
        for (app, _) in shared.containers where !isShown(app) { forgetHidden(app) }
    }

    /// Has the kernel forget a home that is hidden, so that its containers are no longer shared if nobody is in it.
    private func forgetHidden(_ app: ContainerIdentifier) {
        kernel.current?.forgetEntry(app.fileName, in: .root) { [self] in isShown(app) }
    }

    /// Has the kernel ask before it relies on what is in use of containers. Called when it has forgotten the rest.
    func expire(_ shared: NewlyShared) {
        guard let kernel = kernel.current else { return }
        for (_, container) in known(shared) {
            for (node, names) in table.nodes(named: container) {
                for (parent, name) in names { kernel.expireEntry(name, in: parent.id) }
                if node.isDirectory { kernel.forgetContent(of: node.id) }
            }
            // A process in the container's own directory needs a path again.
            kernel.forgetContent(of: container.id)
            kernel.follow(container.id)
        }
    }

    private func known(_ shared: NewlyShared) -> [(parent: Node, container: Node)] {
        names.reading {
            shared.containers.compactMap { app, inode in
                let container = table.nodes(inode: inode).first { $0.view?.app == app }
                return container.flatMap { container in container.parent.map { ($0, container) } }
            }
        }
    }
}
