// Containers that several homes show: what one home changes, the others are to see, and the kernel is not to cache for
// them. A container that only one home shows is cached like everything else.

import Platform
public import SandboxModel
import Synchronization

extension Volume {
    /// Containers that one home showed alone until now, so that the kernel may rely on what it knows of them.
    public struct NewlyShared: Sendable {
        /// By the home that did, and the inode of the container's own directory.
        fileprivate var containers: [(app: ContainerIdentifier, inode: UInt64)] = []

        public var isEmpty: Bool { containers.isEmpty }
    }

    // MARK: Which home shows what

    /// Counts a home among those that show its containers, before it shows them.
    /// - Returns: what the kernel is to forget before somebody can come in through this home.
    @discardableResult
    public func share(_ home: Home) -> NewlyShared {
        var newly = NewlyShared()
        guard root.kind == .device, !home.showsOnlyDocuments else { return newly }
        let places = [(Home.groupsDirectory, home.groups), (Home.iCloudDirectory, home.iCloud)]
        views.withLock { views in
            for (directory, containers) in places {
                for (container, anchor) in containers {
                    let place = ContainerViews.Place(directory: directory, container: container)
                    guard let alone = views.add(home.app, to: place).alone else { continue }
                    hasShared.store(true, ordering: .releasing)
                    // One that cannot be examined shows its error to everybody.
                    if let inode = try? anchor.descriptor.status().inode { newly.containers.append((alone, inode)) }
                }
            }
        }
        return newly
    }

    /// As ``share(_:)``, of a home that is about to be updated.
    public func share(_ update: HomeUpdate) -> NewlyShared {
        let hidden = names.reading { homeNode(update.data).flatMap { table.withNames(of: $0) { $0.rare?.home } } }
        guard let home = homes.withLock({ $0[update.app] }) ?? hidden else { return NewlyShared() }
        return share(home.updated(update))
    }

    /// A home was hidden, and nobody is in it any more.
    func endSharing(_ app: ContainerIdentifier) {
        views.withLock { $0.remove(app) }
    }

    /// nil where no other home can show a container.
    func view(of home: Home, _ place: ContainerViews.Place) -> ContainerView? {
        root.kind == .device ? views.withLock { $0.add(home.app, to: place).view } : nil
    }

    /// Whether several homes show what a directory lists, so that the kernel is to ask each time.
    public func isShared(_ directory: NodeID) -> Bool {
        hasShared.load(ordering: .acquiring) && table.isShared(directory)
    }

    /// Makes something in a directory. `names` is held meanwhile: shared where the kernel lets nobody else find it before
    /// it is whole, exclusively where others come by another directory of the kernel's.
    func making<Result>(in directory: NodeID, _ body: () throws(Fault) -> Result) throws(Fault) -> Result {
        try withRoom { () throws(Fault) in
            isShared(directory) ? try names.writing(body) : try names.reading(body)
        }
    }

    // MARK: What the kernel forgets when a container comes to be shared

    /// Has the kernel forget what it caches of containers, absence included, as far as nobody uses it.
    public func forget(_ shared: NewlyShared) {
        guard let kernelCache else { return }
        for (parent, container) in known(shared) { kernelCache.forgetEntry(container.name!, in: parent.id) }
        for (app, _) in shared.containers where homes.withLock({ $0[app] == nil }) { forgetHidden(app) }
    }

    /// Has the kernel forget a home that nobody sees, so that its containers are no longer shared if nobody is in it.
    func forgetHidden(_ app: ContainerIdentifier) {
        kernelCache?.forgetEntry(app.fileName, in: .root) { [self] in homes.withLock { $0[app] != nil } }
    }

    /// Has the kernel ask before it relies on what is in use of containers. Called when it has forgotten the rest.
    public func expire(_ shared: NewlyShared) {
        guard let kernelCache else { return }
        for (_, container) in known(shared) {
            for (node, names) in table.nodes(named: container) {
                for (parent, name) in names { kernelCache.expireEntry(name, in: parent.id) }
                if node.isDirectory { kernelCache.forgetContent(of: node.id) }
            }
            // Those who are in the container's own directory are to be somewhere again.
            kernelCache.forgetContent(of: container.id)
            kernelCache.follow(container.id)
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

    // MARK: What one home does, and the others see

    /// A name was given in a directory. The caller holds `names`.
    func noteGiven(_ name: FileName, in directory: Node) {
        directory.names.add()
        guard hasShared.load(ordering: .acquiring) else { return }
        for other in table.otherViews(of: directory) {
            other.names.add()
            // One that has lost its container to a single home may be cached for that home.
            if other.view?.isShared != true { kernelCache?.forgetEntry(name, in: other.id) }
        }
    }

    /// Has the kernel forget a name that went, as other homes know it: it would keep what had the name.
    /// - Parameter directories: in which the name was.
    func forget(_ name: FileName, in directories: [Node], ofDirectory isDirectory: Bool) {
        guard !directories.isEmpty, let kernelCache else { return }
        for directory in directories {
            if isDirectory {
                // Somebody may be in what has the name by then, and is to stay somewhere.
                kernelCache.forgetEntry(name, in: directory.id) { [self] in
                    names.reading { (try? self.directory(directory).descriptor.exists(name)) ?? false }
                }
            } else {
                kernelCache.forgetEntry(name, in: directory.id)
            }
        }
    }

    /// Another home has moved a directory. The caller holds `names` exclusively.
    /// - Parameters:
    ///   - node: the directory, as this home knows it.
    ///   - parent: where it is now, as the other home knows it.
    func follow(_ node: Node, to name: FileName, in parent: Node) {
        guard let app = table.withNames(of: node, { NodeTable.State.app(of: $0) }) else { return }
        if table.move(node, of: app, along: parent, name: name) {
            kernelCache?.follow(node.id)
            return
        }
        // This home does not see it where it is: it is as if it were removed, for all but those who are in it.
        guard let old = table.setApart(node, of: app) else { return }
        hasShared.store(true, ordering: .releasing)
        let descriptor = try? SharedDescriptor(directory(parent).descriptor.openNode(name))
        node.withRare { rare in rare.orphan = descriptor }
        forget(old.name, in: [old.parent], ofDirectory: true)
    }

    /// The names that lead to a directory from the root; nil when it has none any more.
    public func path(to directory: NodeID) -> [FileName]? {
        names.reading {
            guard var node = table.node(directory) else { return nil }
            var path: [FileName] = []
            while node !== root {
                guard let (parent, name) = table.location(of: node) else { return nil }
                path.append(name)
                node = parent
            }
            return path.reversed()
        }
    }
}
