// Files: opened, created, read, written, closed, made durable.

public import BackingStore
public import Glibc
import Platform
public import SandboxModel
import SandboxPolicy
import Synchronization

extension Volume {
    // MARK: Opening

    /// Opens a file that is there.
    ///
    /// - Parameters:
    ///   - flags: as open(2) has them; only the access mode and O_TRUNC matter.
    ///   - thread: of the process that calls; 0 for one that cannot be seen.
    /// - Throws: `refused` by the node's zone or its protection class; `corrupt`; ESTALE where the kernel has a wrong
    ///   idea of the file's length, whereupon it looks the name up again.
    public func open(_ node: NodeID, flags: Int32, by thread: pid_t = 0) throws(Fault) -> FileHandle {
        try names.reading { () throws(Fault) in
            let node = try self.node(node)
            if node.kind == .cacheTag { return try openCacheTag(node, flags: flags) }
            guard node.kind == .file else { throw .system(node.isDirectory ? .isDirectory : .noSuchAddress) }
            return try open(node, flags: flags, by: thread)
        }
    }

    private func open(_ node: Node, flags: Int32, by thread: pid_t) throws(Fault) -> FileHandle {
        let writing = flags & O_ACCMODE != O_RDONLY
        if flags & O_ACCMODE != O_WRONLY { try permit(.read, on: node.zone) }
        if writing { try permit(.write, on: node.zone) }
        let content = try openContent(of: node, writing: writing || flags & O_TRUNC != 0, by: thread)
        noteUse(of: node)
        if flags & O_TRUNC != 0 {
            do throws(Fault) {
                try permit(.truncate, on: node.zone)
                if case .encrypted(let file) = content { try file.truncate(to: 0) }
            } catch {
                closeContent(of: node, writing: true)
                throw error
            }
        }
        return FileHandle(node: node, content: content, canWrite: writing || flags & O_TRUNC != 0)
    }

    /// Opens a node's content once more: the first to do so opens the backing file. The caller holds `names`.
    func openContent(of node: Node, writing: Bool, by thread: pid_t = 0) throws(Fault) -> OpenFile.Content {
        // Found by its name, it is to be looked up again; found by an old descriptor, it is what a restart left behind.
        if isPast(node) { throw .system(isForgetting.load(ordering: .acquiring) ? .stale : .inputOutput) }
        return try openLock(of: node).writing { () throws(Fault) in
            if node.isStale { throw .system(.stale) }
            if let open = node.open {
                try requireOpening(open.content)
                if writing, case .encrypted(let file) = open.content, !file.canWrite {
                    file.adopt(writable: try openBacking(of: node, writing: true).0)
                }
                open.add(writing: writing, by: thread)
                return open.content
            }
            let content: OpenFile.Content
            if node.zone == .bundle {
                content = .sealed(try openSealed(node))
            } else {
                let (backing, isWritable) = try openBacking(of: node, writing: writing)
                let isCounted = !node.isNameless
                var file = try EncryptedFile.open(
                    backing, isWritable: isWritable, isCounted: isCounted, context: context)
                if file.needsWriter {
                    // What a killed process left must be written down, whatever the mode says.
                    let place = try place(of: node)
                    let writable = try onHost { () throws(SystemError) in
                        SharedDescriptor(try place.openDespiteMode())
                    }
                    file = try EncryptedFile.open(writable, isWritable: true, isCounted: isCounted, context: context)
                }
                guard !file.lengthWasSettled else {
                    // The kernel keeps the length it was told for as long as it knows the node: give it another.
                    table.renew(node)
                    throw .system(.stale)
                }
                content = .encrypted(file)
                try requireOpening(content)
                noteProtected(node, file)
                // Reached by what only names it, which outlived its names.
                if node.isNameless { file.countSpace() }
            }
            adopt(content, into: node, writing: writing, by: thread)
            return content
        }
    }

    /// Whether the state of the device lets the content be opened, though somebody else may have it open.
    private func requireOpening(_ content: OpenFile.Content) throws(Fault) {
        guard case .encrypted(let file) = content else { return }
        let refusal = SandboxPolicy.refusal(of: .read, protection: file.protection, state: context.deviceState)
        if let refusal { throw .refused(refusal) }
    }

    /// Whether a descriptor opened before still reaches its content.
    func requireContent(_ handle: FileHandle, for operation: Operation) throws(Fault) {
        try requireContent(handle.content, of: handle.node, for: operation)
    }

    private func requireContent(
        _ content: OpenFile.Content, of node: Node, for operation: Operation
    ) throws(Fault) {
        if isPast(node) || isRestarting.load(ordering: .relaxed) { throw .system(.inputOutput) }
        guard case .encrypted(let file) = content else { return }
        let refusal = SandboxPolicy.refusal(
            of: operation, protection: file.protection, state: context.deviceState, opened: true)
        if let refusal { throw .refused(refusal) }
    }

    /// Why nothing can be written to a file through the descriptors that are open; nil when it can.
    public func refusalOfWriting(to node: NodeID) -> Fault? {
        // Nearly always, and without a look at the node.
        if context.deviceState.canOpen(.complete), !isRestarting.load(ordering: .relaxed),
            node.epoch == epoch.load(ordering: .relaxed)
        {
            return nil
        }
        guard let node = table.node(node), let content = openLock(of: node).reading({ node.open?.content })
        else { return nil }
        do throws(Fault) {
            try requireContent(content, of: node, for: .write)
            return nil
        } catch {
            return error
        }
    }

    /// Remembers that the kernel comes to hold pages that it must not keep when the device locks.
    func noteProtected(_ node: Node, _ file: EncryptedFile) {
        switch file.protection {
        case .complete, .completeUnlessOpen: table.noteProtected(node)
        case .completeUntilFirstUserAuthentication, .none: break
        }
    }

    private func adopt(_ content: OpenFile.Content, into node: Node, writing: Bool, by thread: pid_t) {
        let open = OpenFile(content)
        open.add(writing: writing, by: thread)
        node.open = open
    }

    /// Gives one opening back. The last that could write leaves a header that says the length.
    func closeContent(of node: Node, writing: Bool) {
        openLock(of: node).writing {
            guard let open = node.open else { return }
            open.handles -= 1
            open.writers -= writing ? 1 : 0
            if writing, open.writers == 0, case .encrypted(let file) = open.content {
                file.markRefusals()
                // A header that stays open is settled when the file is opened next.
                try? file.commit()
            }
            guard open.handles == 0 else { return }
            node.open = nil
            guard case .encrypted(let file) = open.content else { return }
            if node.isNameless { file.releaseSpace() }
            letGo(of: file, node, writer: open.lastWriter)
        }
    }

    /// Has the kernel forget what it should not keep of a file that was closed. The caller holds the node's open lock.
    private func letGo(of file: EncryptedFile, _ node: Node, writer: Opening?) {
        // Nobody can open it before the next unlock: the kernel need not keep what it read.
        if !context.deviceState.canOpen(file.protection) { kernelCache?.forgetContent(of: node.id) }
        guard file.hasLoss else { return }
        reportLoss(of: file, node, writer: writer)
        // The kernel counts what was lost to the length for as long as it knows the node: it is to know another.
        node.isStale = true
        table.renew(node)
        for (parent, name) in table.names(of: node) { kernelCache?.forgetEntry(name, in: parent.id) }
    }

    /// Opens the backing file, for writing where that can be: writes come late, and any opening may have to finish
    /// what a killed process left.
    func openBacking(of node: Node, writing: Bool) throws(Fault) -> (SharedDescriptor, Bool) {
        let place = try place(of: node)
        return try onHost { () throws(SystemError) in
            let (file, isWritable) = try place.openBacking(of: node, writing: writing)
            try file.descriptor.requireNotOfReserve()
            return (file, isWritable)
        }
    }

    // MARK: Creating

    /// Creates a file and opens it. A file that is there already is opened, unless `flags` has O_EXCL.
    public func create(
        _ name: FileName, in parent: NodeID, mode: mode_t, flags: Int32, caller: Caller
    ) throws(Fault) -> (Entry, FileHandle) {
        try making(in: parent) { () throws(Fault) in
            try createNow(name, in: parent, mode: mode, flags: flags, caller: caller)
        }
    }

    /// The caller holds `names`.
    private func createNow(
        _ name: FileName, in parent: NodeID, mode: mode_t, flags: Int32, caller: Caller
    ) throws(Fault) -> (Entry, FileHandle) {
        let parent = try self.parent(parent)
        try permit(.create, on: parent.zone)
        try permit(name: name, in: parent)
        let directory = try directory(parent)
        let protection = try protection(in: parent)
        if let rule = SandboxPolicy.refusal(of: .create, protection: protection, state: context.deviceState),
            (try? directory.descriptor.status(of: name)) == nil
        {
            throw .refused(rule)
        }
        let backing: SharedDescriptor
        do throws(SystemError) {
            backing = SharedDescriptor(
                try directory.descriptor.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode & 0o1777))
        } catch {
            guard error == .exists, flags & O_EXCL == 0 else { throw .system(error) }
            let entry = try find(name, in: parent)
            do throws(Fault) {
                let node = try node(entry.node)
                guard node.kind == .file else { throw .system(.exists) }
                return (entry, try open(node, flags: flags, by: caller.process))
            } catch {
                forget(entry.node, count: 1)
                throw error
            }
        }
        do throws(Fault) {
            return try fill(backing, protection, name, parent, directory, mode, flags, caller)
        } catch {
            // Nothing was acknowledged, and no name may be left behind.
            try? directory.descriptor.removeFile(name)
            throw error
        }
    }

    private func fill(
        _ backing: SharedDescriptor, _ protection: ProtectionClass, _ name: FileName, _ parent: Node,
        _ directory: SharedDescriptor, _ mode: mode_t, _ flags: Int32, _ caller: Caller
    ) throws(Fault) -> (Entry, FileHandle) {
        let status = try onHost { () throws(SystemError) in
            try backing.descriptor.requireNotOfReserve()
            if let (owner, group) = try newOwner(for: caller, in: directory) {
                try backing.descriptor.changeOwner(owner, group: group)
            }
            if mode & 0o6000 != 0 { try backing.descriptor.changeMode(mode & 0o7777) }
            return try backing.descriptor.status()
        }
        let file = try EncryptedFile.create(
            backing, inode: status.inode, protection: protection, context: context)
        var written = status
        written.raw.st_size = off_t(ContentLayout.backingLength(of: 0))
        let entry = entry(written, name, parent, isNew: true)
        let node = try node(entry.node)
        noteProtected(node, file)
        noteUse(of: node)
        let writing = flags & O_ACCMODE != O_RDONLY
        let content = openLock(of: node).writing {
            // Somebody may have found the name and opened the file already: one file has one content.
            guard let open = node.open else {
                adopt(.encrypted(file), into: node, writing: writing, by: caller.process)
                return OpenFile.Content.encrypted(file)
            }
            open.add(writing: writing, by: caller.process)
            return open.content
        }
        return (entry, FileHandle(node: node, content: content, canWrite: writing))
    }

    // MARK: Reading and writing

    /// Lends what was read to `body`, with no lock held.
    public func read(
        _ handle: FileHandle, count: Int, from offset: Int64, _ body: (ReadResult) -> Void
    ) throws(Fault) {
        switch handle.content {
        case .encrypted(let file): try file.read(count: count, from: offset, body)
        case .sealed(let file):
            if isPast(handle.node) { throw .system(.inputOutput) }
            try file.read(count: count, from: offset, body)
        case .synthetic(let file): file.read(count: count, from: offset, context: context, body)
        }
    }

    /// Writes all of the bytes, or throws.
    /// - Returns: what to begin with when the write is answered.
    @discardableResult
    public func write(
        _ handle: FileHandle, bytes: borrowing RawSpan, to offset: Int64
    ) throws(Fault) -> EarlyWriteback? {
        guard handle.canWrite, case .encrypted(let file) = handle.content else { throw .system(.badDescriptor) }
        return try write(bytes, to: offset, of: file)
    }

    public func close(_ handle: FileHandle) {
        closeContent(of: handle.node, writing: handle.canWrite)
        noteUse(of: handle.node)
    }

    /// The filesystem's figures, as statvfs(3) gives them: the host's, with the space that the device has.
    public func statistics() throws(Fault) -> statvfs {
        var statistics = try onHost { () throws(SystemError) in try device.descriptor.filesystemStatistics() }
        guard context.space.capacity != nil, statistics.f_frsize > 0 else { return statistics }
        let (figures, size) = (space.figures, Int64(statistics.f_frsize))
        statistics.f_blocks = fsblkcnt_t(figures.total / size)
        statistics.f_bfree = fsblkcnt_t(figures.free / size)
        statistics.f_bavail = fsblkcnt_t(figures.available / size)
        return statistics
    }
}
