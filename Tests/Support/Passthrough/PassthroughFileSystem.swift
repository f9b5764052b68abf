// A directory of the host, shown as it is: what FUSE costs without encryption, rules and records.

import FuseBridge
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Each request becomes the host's call of the same name. Nothing but the mount may change the source meanwhile: the
/// kernel keeps names, attributes and content for a day.
final class PassthroughFileSystem: FileSystem {
    /// An open file. Its descriptor is closed with the object.
    final class OpenFile: Sendable {
        let descriptor: Descriptor
        let mayBeWritten: Bool
        private let isAdvised = Atomic<Bool>(false)

        init(_ descriptor: consuming Descriptor, mayBeWritten: Bool) {
            self.descriptor = descriptor
            self.mayBeWritten = mayBeWritten
        }

        /// Tells the host that the file is read on. Workers read a file's pieces out of their order, in which the host
        /// would not read far ahead by itself.
        func noteReading(from offset: Int64) {
            guard offset > 0, !isAdvised.load(ordering: .relaxed) else { return }
            isAdvised.store(true, ordering: .relaxed)
            posix_fadvise(descriptor.number, 0, 0, POSIX_FADV_SEQUENTIAL)
        }
    }

    /// Seconds for which the kernel may keep what it is told.
    static let timeout = 86_400.0

    let nodes: NodeTable
    let descriptors: ProcessDescriptors
    let buffers = ReadBuffers()
    /// FORGET and RELEASE have no client, but they occupy the worker for which the next request waits.
    let released = DeferredRelease(name: "release", bound: min(16_384, OpenFileLimit.current / 4))
    /// The superuser serves all users, whose new files are their own.
    private let servesOthers = geteuid() == 0

    /// - Parameter source: a directory.
    /// - Throws: ENOENT, ENOTDIR, EACCES.
    init(source: String) throws(SystemError) {
        let root = try Descriptor.openDirectory(path: source)
        let identity = try root.status().identity
        nodes = NodeTable(root: Node(root, identity))
        descriptors = try ProcessDescriptors()
    }

    func ended() {
        released.finish()
    }

    // MARK: Nodes

    func node(_ number: KernelNode) throws(SystemError) -> Node {
        guard let node = nodes[number] else { throw .stale }
        return node
    }

    func fileName(_ bytes: [UInt8]) throws(SystemError) -> FileName {
        guard let name = FileName(bytes) else { throw bytes.count > FileName.maximumLength ? .nameTooLong : .invalid }
        return name
    }

    /// The entry of a name, with one reference to its node.
    func entry(_ name: FileName, in parent: Node) throws(SystemError) -> KernelEntry {
        try entry(of: try parent.descriptor.openNode(name))
    }

    private func entry(of descriptor: consuming Descriptor) throws(SystemError) -> KernelEntry {
        let status = try descriptor.status()
        let node = nodes.addReference(to: Node(descriptor, status.identity))
        return KernelEntry(
            node: node, generation: 0, status: status, nameTimeout: PassthroughFileSystem.timeout,
            statusTimeout: PassthroughFileSystem.timeout)
    }

    /// The entry of a name that was made for a caller, who becomes its owner.
    func newEntry(_ name: FileName, in parent: Node, for caller: RequestCaller) throws(SystemError) -> KernelEntry {
        let descriptor = try parent.descriptor.openNode(name)
        if servesOthers, caller.user != 0 || caller.group != getegid() {
            // The host has given it the directory's group.
            let keepsGroup = try parent.descriptor.status().permissions & S_ISGID != 0
            try descriptor.changeOwnerOfNamed(caller.user, group: keepsGroup ? gid_t.max : caller.group)
        }
        return try entry(of: descriptor)
    }

    func forget(_ node: KernelNode, count: UInt64) {
        if let node = nodes.removeReferences(to: node, count: count) { released.add(node) }
    }

    // MARK: Names

    func lookup(_ name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        let found: KernelEntry
        do throws(SystemError) {
            found = try entry(try fileName(name), in: try node(parent))
        } catch {
            return error == .noEntry
                ? reply.absent(timeout: PassthroughFileSystem.timeout) : reply.fail(error.code)
        }
        send(found, reply)
    }

    private func send(_ entry: KernelEntry, _ reply: consuming EntryReply) {
        if !reply.entry(entry) { forget(entry.node, count: 1) }
    }

    private func answer(_ reply: consuming EntryReply, _ make: () throws(SystemError) -> KernelEntry) {
        let made: KernelEntry
        do throws(SystemError) { made = try make() } catch { return reply.fail(error.code) }
        send(made, reply)
    }

    func makeSymbolicLink(
        _ name: [UInt8], in parent: KernelNode, target: [UInt8], caller: RequestCaller, reply: consuming EntryReply
    ) {
        answer(reply) { () throws(SystemError) in
            let (name, parent) = (try fileName(name), try node(parent))
            try parent.descriptor.makeSymbolicLink(name, target: target)
            return try newEntry(name, in: parent, for: caller)
        }
    }

    func makeNode(_ new: NewNode, reply: consuming EntryReply) {
        answer(reply) { () throws(SystemError) in
            let (name, parent) = (try fileName(new.name), try node(new.parent))
            try parent.descriptor.makeNode(name, mode: new.mode)
            return try newEntry(name, in: parent, for: new.caller)
        }
    }

    func makeDirectory(_ new: NewNode, reply: consuming EntryReply) {
        answer(reply) { () throws(SystemError) in
            let (name, parent) = (try fileName(new.name), try node(new.parent))
            try parent.descriptor.makeDirectory(name, mode: new.mode)
            return try newEntry(name, in: parent, for: new.caller)
        }
    }

    func link(_ node: KernelNode, to name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        answer(reply) { () throws(SystemError) in
            let (name, parent) = (try fileName(name), try self.node(parent))
            try descriptors.link(try self.node(node), to: name, in: parent)
            return try entry(name, in: parent)
        }
    }

    func removeFile(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            try node(parent).descriptor.removeFile(try fileName(name))
        }
    }

    func removeDirectory(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        reply.answer { () throws(SystemError) in
            try node(parent).descriptor.removeDirectory(try fileName(name))
        }
    }

    func rename(_ request: RenameRequest, reply: consuming DoneReply) {
        let mode: Descriptor.RenameMode =
            switch request.mode {
            case .replacing: .replacing
            case .keeping: .keeping
            case .exchanging: .exchanging
            }
        reply.answer { () throws(SystemError) in
            let target = try node(request.newParent)
            try node(request.parent).descriptor.rename(
                try fileName(request.name), to: try fileName(request.newName), in: target.descriptor, mode: mode)
        }
    }
}

extension DoneReply {
    consuming func answer(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch { return fail(error.code) }
        done()
    }
}
