// The content of open files: opened by the first handle, closed by the last.

import BackingStore
import Glibc
import Platform
import SandboxModel
import SandboxPolicy
import Synchronization

/// The open files of a volume, with the rules of the device's state about their content.
///
/// Lock rule: each node has an open lock, one of 64, that guards the node's `open`, `isStale` and `isNameless`. The
/// open lock is taken after the volume's `names` and ``EntryLocks``, and before the locks of `EncryptedFile`, the table
/// and the directory cache. Reading and writing take none: a handle holds the content.
final class OpenFileTable: Sendable {
    let places: NodePlaces
    let context: StoreContext
    let kernel: KernelCacheReference
    private let locks = (0..<64).map { _ in ReadWriteLock() }
    /// How often a file that nobody has open may have got another status on the host.
    private let changes = Atomic<UInt64>(0)

    init(places: NodePlaces, context: StoreContext, kernel: KernelCacheReference) {
        self.places = places
        self.context = context
        self.kernel = kernel
    }

    var table: NodeTable { places.table }

    /// The open lock of a node.
    func lock(of node: Node) -> ReadWriteLock {
        // A directory has several nodes, and one lock.
        locks[Int((node.isDirectory ? node.inode : node.id.slot) % UInt64(locks.count))]
    }

    // MARK: Opening

    /// Adds a handle to a file: the first opens the backing file. The caller keeps the node's place.
    ///
    /// - Parameter thread: the opening thread; 0 for one that cannot be seen.
    /// - Throws: `refused` by the protection class; `corrupt`; ESTALE where the kernel has a wrong idea of the file's
    ///   length, so that it looks the name up again; EIO for a descriptor from before a restart.
    func open(_ node: Node, writing: Bool, by thread: pid_t = 0) throws(Fault) -> OpenFile.Content {
        // Reached by its name, the file is looked up again; reached by an old descriptor, it was left behind.
        if places.epochs.isPast(node) { throw .system(places.epochs.isForgetting ? .stale : .inputOutput) }
        return try lock(of: node).writing { () throws(Fault) in
            if node.isStale { throw .system(.stale) }
            if let open = node.open {
                try requireOpening(open.content)
                if writing, case .encrypted(let file) = open.content, !file.canWrite {
                    file.adopt(writable: try openBacking(of: node, writing: true).0)
                }
                open.add(writing: writing, by: thread)
                return open.content
            }
            let content: OpenFile.Content =
                node.zone == .bundle
                ? .sealed(try openSealed(node)) : .encrypted(try openEncrypted(node, writing: writing))
            let open = OpenFile(content)
            open.add(writing: writing, by: thread)
            node.open = open
            return content
        }
    }

    /// The caller holds the node's open lock.
    private func openEncrypted(_ node: Node, writing: Bool) throws(Fault) -> EncryptedFile {
        let (backing, isWritable) = try openBacking(of: node, writing: writing)
        let isCounted = !node.isNameless
        var file = try EncryptedFile.open(backing, isWritable: isWritable, isCounted: isCounted, context: context)
        if file.needsWriter {
            // The length that a killed process left is recovered and written down, whatever the mode says.
            let place = try places.place(of: node)
            let writable = try onHost { () throws(SystemError) in SharedDescriptor(try place.openDespiteMode()) }
            file = try EncryptedFile.open(writable, isWritable: true, isCounted: isCounted, context: context)
        }
        guard !file.lengthWasRecovered else {
            // The kernel keeps the length it was told for as long as it knows the node: give it another.
            table.renew(node)
            throw .system(.stale)
        }
        try requireOpening(.encrypted(file))
        recordProtected(node, file)
        // The file has no name: a descriptor that outlived the names led here.
        if node.isNameless { file.countSpace() }
        return file
    }

    /// The caller holds the node's open lock.
    private func openSealed(_ node: Node) throws(Fault) -> SealedFile {
        guard let index = node.rare?.sealed, let home = node.home else { throw .system(.stale) }
        let backing = try openBacking(of: node, writing: false).0
        return try SealedFile(backing, index, of: home.bundle, context: context)
    }

    /// Opens the backing file, for writing where that can be: writes come late, and any opening may have to finish
    /// what a killed process left. The caller keeps the node's place.
    /// - Returns: with the file, whether it is open for writing.
    func openBacking(of node: Node, writing: Bool) throws(Fault) -> (SharedDescriptor, Bool) {
        let place = try places.place(of: node)
        return try onHost { () throws(SystemError) in
            let (file, isWritable) = try place.openBacking(of: node, writing: writing)
            try file.descriptor.requireNotOfReserve()
            return (file, isWritable)
        }
    }

    /// Adds the handle of a file that was just created.
    /// - Parameter mode: the mode on the host.
    /// - Returns: the content of the node: another call may have found the name and opened the file already.
    func add(
        _ file: EncryptedFile, _ mode: mode_t, to node: Node, writing: Bool, by thread: pid_t
    ) -> OpenFile.Content {
        recordProtected(node, file)
        return lock(of: node).writing {
            let open = node.open ?? OpenFile(.encrypted(file))
            if node.open == nil { open.mode.set(mode) }
            open.add(writing: writing, by: thread)
            node.open = open
            return open.content
        }
    }

    /// Remembers that the kernel may come to hold pages that it must drop when the device locks.
    func recordProtected(_ node: Node, _ file: EncryptedFile) {
        switch file.protection {
        case .complete, .completeUnlessOpen: table.recordProtected(node)
        case .completeUntilFirstUserAuthentication, .none: break
        }
    }

    // MARK: Closing

    /// Drops a handle. The last writer's close commits the length to the header.
    func close(_ node: Node, writing: Bool) {
        lock(of: node).writing {
            guard let open = node.open else { return }
            open.handles -= 1
            open.writers -= writing ? 1 : 0
            if writing, open.writers == 0, case .encrypted(let file) = open.content {
                file.markRefusals()
                // If this fails, the next opening recovers the length.
                try? file.commit()
            }
            guard open.handles == 0 else { return }
            node.open = nil
            recordChange()
            guard case .encrypted(let file) = open.content else { return }
            if node.isNameless { file.releaseSpace() }
            dropFromKernel(file, node, writer: open.lastWriter)
        }
    }

    /// Has the kernel forget what it should not keep of a file that was closed. The caller holds the node's open lock.
    private func dropFromKernel(_ file: EncryptedFile, _ node: Node, writer: Opening?) {
        // Nobody can open it before the next unlock: the kernel need not keep what it read.
        if !context.deviceState.canOpen(file.protection) { kernel.current?.forgetContent(of: node.id) }
        guard file.hasLoss else { return }
        reportLoss(of: file, node, writer: writer)
        // The kernel adds the lost bytes to the length for as long as it knows the node: give it another.
        node.isStale = true
        table.renew(node)
        for (parent, name) in table.names(of: node) { kernel.current?.forgetEntry(name, in: parent.id) }
    }

    /// The number of changes so far: while it stays, a file that nobody has open has the status that it had.
    var changeCount: UInt64 { changes.load(ordering: .acquiring) }

    /// Records that a file was closed, or got other attributes or another number of names. Called after that, with its
    /// open lock or the lock of its place held.
    func recordChange() { changes.wrappingAdd(1, ordering: .releasing) }

    // MARK: Access to open content

    /// Refuses where the device's state forbids opening this content, even if it is open already.
    private func requireOpening(_ content: OpenFile.Content) throws(Fault) {
        guard case .encrypted(let file) = content else { return }
        let refusal = SandboxPolicy.refusal(of: .read, protection: file.protection, state: context.deviceState)
        if let refusal { throw .refused(refusal) }
    }

    /// Refuses where a descriptor that is open does not reach its content any more.
    /// - Throws: EIO after a restart; `refused` by the protection class.
    func requireContent(_ handle: FileHandle, for operation: Operation) throws(Fault) {
        try requireContent(handle.content, of: handle.node, for: operation)
    }

    private func requireContent(
        _ content: OpenFile.Content, of node: Node, for operation: Operation
    ) throws(Fault) {
        if places.epochs.isPast(node) || places.epochs.isRestarting { throw .system(.inputOutput) }
        guard case .encrypted(let file) = content else { return }
        let refusal = SandboxPolicy.refusal(
            of: operation, protection: file.protection, state: context.deviceState, opened: true)
        if let refusal { throw .refused(refusal) }
    }

    /// The reason for which nothing can be written through the open descriptors of a file; nil when writing works.
    func refusalOfWriting(to id: NodeID) -> Fault? {
        // Nearly always, and without a look at the node.
        if context.deviceState.canOpen(.complete), places.epochs.isCurrent(id) { return nil }
        guard let node = table.node(id), let content = lock(of: node).reading({ node.open?.content })
        else { return nil }
        do throws(Fault) {
            try requireContent(content, of: node, for: .write)
            return nil
        } catch {
            return error
        }
    }

    /// The place by which a node's status, flags and extended attributes are reached: its open file where there is one,
    /// because a descriptor keeps its rights though the file's directory has become closed. The caller keeps the node's
    /// place.
    func inodePlace(of node: Node) throws(Fault) -> Place {
        if node.kind == .file, let backing = lock(of: node).reading({ node.open?.content.backing }) {
            return .descriptor(backing)
        }
        return try places.place(of: node)
    }
}
