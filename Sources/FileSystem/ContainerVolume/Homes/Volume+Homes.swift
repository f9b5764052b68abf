// The homes that a volume shows, and changes of a shared container that other homes must see.

import Platform
public import SandboxModel

extension Volume {
    // MARK: Showing homes

    /// Shows an app's home, or shows it anew after its containers changed.
    /// - Returns: as ``share(_:)`` does.
    @discardableResult
    public func show(_ home: Home) -> NewlyShared { homes.show(home) }

    /// Hides an app's home. Its open files stay open.
    public func hide(_ app: ContainerIdentifier) { homes.hide(app) }

    /// Counts a home among those that show its containers, before it shows them.
    /// - Returns: the containers that the kernel must forget before a call can come in through this home.
    @discardableResult
    public func share(_ home: Home) -> NewlyShared { homes.sharing.add(home) }

    /// As ``share(_:)``, for a home that is about to be updated.
    public func share(_ update: HomeUpdate) -> NewlyShared { homes.share(update) }

    /// Has the kernel forget what it caches of containers, absence included, as far as nobody uses it.
    public func forget(_ shared: NewlyShared) { homes.forget(shared) }

    /// Has the kernel ask before it relies on what is in use of containers. Called when it has forgotten the rest.
    public func expire(_ shared: NewlyShared) { homes.expire(shared) }

    /// Whether several homes show what a directory lists, so that the kernel is to ask each time.
    public func isShared(_ directory: NodeID) -> Bool { homes.sharing.mayExist && table.isShared(directory) }

    /// Makes an entry in a directory, and again as long as a purge releases space. The lock of the directory's entries
    /// is held meanwhile: shared where the kernel lets nobody else find the entry before it is whole, exclusively where
    /// other homes come by another directory of the kernel's.
    func making<Result>(in directory: NodeID, _ body: (Node) throws(Fault) -> Result) throws(Fault) -> Result {
        try space.retrying { () throws(Fault) in
            try names.reading { () throws(Fault) in
                let parent = try self.parent(directory)
                return isShared(directory)
                    ? try entryLocks.changingEntries(of: parent) { () throws(Fault) in try body(parent) }
                    : try entryLocks.keepingEntries(of: parent) { () throws(Fault) in try body(parent) }
            }
        }
    }

    // MARK: Changes that other homes see

    /// Records a name that was given in a directory. The caller holds `names`.
    func recordName(_ name: FileName, in directory: Node) {
        directory.givenNames.add()
        guard homes.sharing.mayExist else { return }
        for other in table.otherViews(of: directory) {
            other.givenNames.add()
            // If the container is not shared any more, the kernel caches its absence for the other home.
            if other.view?.isShared != true { kernelCache?.forgetEntry(name, in: other.id) }
        }
    }

    /// Has the kernel forget a removed name in other homes: otherwise it would keep the node that had the name.
    /// - Parameter directories: the directory's nodes in other homes.
    func forget(_ name: FileName, in directories: [Node], ofDirectory isDirectory: Bool) {
        guard !directories.isEmpty, let kernelCache else { return }
        for directory in directories {
            if isDirectory {
                // A new directory may have the name by then, and a process that is in it must keep its path.
                kernelCache.forgetEntry(name, in: directory.id) { [self] in
                    names.reading { places.hasEntry(name, in: directory) }
                }
            } else {
                kernelCache.forgetEntry(name, in: directory.id)
            }
        }
    }

    /// Moves a directory's node in this home after another home has moved the directory. The caller holds `names`
    /// exclusively.
    ///
    /// - Parameters:
    ///   - node: the directory's node in this home.
    ///   - parent: the node of its new directory in the other home.
    func follow(_ node: Node, to name: FileName, in parent: Node) {
        guard let app = table.withNames(of: node, { NodeTable.State.app(of: $0) }) else { return }
        if table.move(node, of: app, along: parent, name: name) {
            kernelCache?.follow(node.id)
            return
        }
        // This home does not show the new place: here the directory is removed, but for processes that are in it.
        guard let old = table.setApart(node, of: app) else { return }
        homes.sharing.recordApart()
        let descriptor = try? SharedDescriptor(places.directory(parent).descriptor.openNode(name))
        node.withRare { rare in rare.orphan = descriptor }
        forget(old.name, in: [old.parent], ofDirectory: true)
    }
}
