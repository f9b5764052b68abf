// A small filesystem in memory, complete enough to be mounted and used by any program.

import FuseBridge
import Glibc
import Platform
import Synchronization

final class MemoryFileSystem: FileSystem {
    struct Node {
        var status = stat()
        var content: [UInt8] = []
        var names: [[UInt8]: UInt64] = [:]
        var attributes: [[UInt8]: [UInt8]] = [:]
        var flags: UInt32 = 0
        var references: UInt64 = 0
    }

    final class OpenFile: Sendable {
        let node: UInt64
        init(_ node: UInt64) { self.node = node }
    }

    struct State {
        var nodes: [UInt64: Node] = [:]
        var next: UInt64 = 2
        var calls: [String: Int] = [:]
        var openFiles = 0
        var ended = false
        /// Requests of this name drop their reply.
        var forgetful: String?
        /// The reports of dropped replies.
        var dropped: [String] = []
        /// Lookups of names with this prefix wait for ``MemoryFileSystem/goOn``.
        var slowPrefix: [UInt8]?
        var slowLookups = 0
        /// Whether content must not remain in the bridge's memory.
        var isSecret = false
        /// LSEEKs are answered by another thread, after a signal of ``MemoryFileSystem/goOn`` each.
        var seeksAreLate = false
        var lateSeeks = 0
        /// Called within each lookup.
        var atLookup: (@Sendable () -> Void)?
        /// The lines about sessions that can serve no longer.
        var failures: [String] = []
        /// An errno with which statfs(2) fails.
        var statisticsFailure: Int32?
    }

    /// The generation of every node but the root.
    static let generation: UInt32 = 0xABCD
    let state: Mutex<State>
    /// Each signal lets one slow lookup go on.
    let goOn = Semaphore()
    /// Signalled once for each file that is closed.
    let hasClosed = Semaphore()
    /// Seconds for which the kernel may cache names and status.
    let timeout: Double

    init(timeout: Double = 3600) {
        self.timeout = timeout
        var root = Node()
        root.status.st_mode = S_IFDIR | 0o755
        root.status.st_ino = 1
        root.status.st_nlink = 2
        root.status.st_uid = geteuid()
        root.status.st_gid = getegid()
        state = Mutex(State(nodes: [1: root]))
    }

    // MARK: Observations of tests

    func calls(_ name: String) -> Int { state.withLock { $0.calls[name] ?? 0 } }
    /// The number of requests by name.
    var calls: [String: Int] { state.withLock { $0.calls } }

    func count(_ name: String, _ state: inout State) { state.calls[name, default: 0] += 1 }

    /// Changes content without notifying the kernel.
    func replaceContent(of name: String, with text: String) -> KernelNode {
        state.withLock { state in
            let number = state.nodes[1]!.names[Array(name.utf8)]!
            state.nodes[number]!.content = Array(text.utf8)
            return KernelNode(rawValue: number)
        }
    }

    /// The node of a file in the root directory.
    func node(_ name: String) -> KernelNode? {
        state.withLock { $0.nodes[1]!.names[Array(name.utf8)] }.map { KernelNode(rawValue: $0) }
    }

    func removeBehindTheKernel(_ name: String) {
        state.withLock { _ = $0.nodes[1]!.names.removeValue(forKey: Array(name.utf8)) }
    }

    // MARK: Pieces

    func entry(_ number: UInt64, _ state: inout State) -> KernelEntry {
        state.nodes[number]!.references += 1
        return KernelEntry(
            node: KernelNode(rawValue: number), generation: UInt64(MemoryFileSystem.generation),
            status: status(number, state), nameTimeout: timeout, statusTimeout: timeout)
    }

    private func status(_ number: UInt64, _ state: State) -> FileStatus {
        var status = state.nodes[number]!.status
        if status.st_mode & S_IFMT == S_IFREG { status.st_size = state.nodes[number]!.content.count }
        status.st_blksize = 4096
        status.st_blocks = (status.st_size + 511) / 512
        return FileStatus(status)
    }

    func add(
        _ name: [UInt8], _ parent: KernelNode, _ mode: mode_t, _ caller: RequestCaller, _ state: inout State
    ) -> UInt64? {
        guard state.nodes[parent.rawValue]?.names[name] == nil else { return nil }
        let number = state.next
        state.next += 1
        var node = Node()
        node.status.st_ino = UInt(number)
        node.status.st_mode = mode
        node.status.st_nlink = mode & S_IFMT == S_IFDIR ? 2 : 1
        node.status.st_uid = caller.user
        node.status.st_gid = caller.group
        unsafe clock_gettime(CLOCK_REALTIME, &node.status.st_mtim)
        node.status.st_ctim = node.status.st_mtim
        node.status.st_atim = node.status.st_mtim
        state.nodes[number] = node
        state.nodes[parent.rawValue]!.names[name] = number
        return number
    }

    private func make(
        _ call: String, _ name: [UInt8], _ parent: KernelNode, _ mode: mode_t, _ caller: RequestCaller,
        _ reply: consuming EntryReply, content: [UInt8] = []
    ) {
        let made: KernelEntry? = state.withLock { state in
            count(call, &state)
            guard let number = add(name, parent, mode, caller, &state) else { return nil }
            state.nodes[number]!.content = content
            state.nodes[number]!.status.st_size = content.count
            return entry(number, &state)
        }
        if let made { reply.entry(made) } else { reply.fail(EEXIST) }
    }

    // MARK: Names

    func lookup(_ name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        state.withLock { $0.atLookup }?()
        let isSlow = state.withLock { state in
            let isSlow = state.slowPrefix.map { name.starts(with: $0) } ?? false
            state.slowLookups += isSlow ? 1 : 0
            return isSlow
        }
        if isSlow { goOn.wait() }
        let found: KernelEntry?? = state.withLock { state in
            count("lookup", &state)
            if state.forgetful == "lookup" { return .none }
            guard let number = state.nodes[parent.rawValue]?.names[name] else { return .some(nil) }
            return entry(number, &state)
        }
        guard let found else { return }
        if let found { reply.entry(found) } else { reply.absent(timeout: timeout) }
    }

    func forget(_ node: KernelNode, count: UInt64) {
        state.withLock { state in
            self.count("forget", &state)
            guard let old = state.nodes[node.rawValue] else { return }
            state.nodes[node.rawValue]!.references = old.references - count
            if old.references == count, old.status.st_nlink == 0 { state.nodes[node.rawValue] = nil }
        }
    }

    func makeSymbolicLink(
        _ name: [UInt8], in parent: KernelNode, target: [UInt8], caller: RequestCaller, reply: consuming EntryReply
    ) {
        make("symlink", name, parent, S_IFLNK | 0o777, caller, reply, content: target)
    }

    func makeNode(_ new: NewNode, reply: consuming EntryReply) {
        make("mknod", new.name, new.parent, new.mode, new.caller, reply)
    }

    func makeDirectory(_ new: NewNode, reply: consuming EntryReply) {
        make("mkdir", new.name, new.parent, S_IFDIR | new.mode, new.caller, reply)
    }

    private func remove(_ name: [UInt8], _ parent: KernelNode, _ reply: consuming DoneReply) {
        let code: Int32 = state.withLock { state in
            count("remove", &state)
            guard let number = state.nodes[parent.rawValue]!.names[name] else { return ENOENT }
            guard state.nodes[number]!.names.isEmpty else { return ENOTEMPTY }
            state.nodes[parent.rawValue]!.names[name] = nil
            let isDirectory = state.nodes[number]!.status.st_mode & S_IFMT == S_IFDIR
            state.nodes[number]!.status.st_nlink -= isDirectory ? 2 : 1
            return 0
        }
        if code == 0 { reply.done() } else { reply.fail(code) }
    }

    func removeFile(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        remove(name, parent, reply)
    }

    func removeDirectory(_ name: [UInt8], in parent: KernelNode, reply: consuming DoneReply) {
        remove(name, parent, reply)
    }

    func rename(_ request: RenameRequest, reply: consuming DoneReply) {
        let (parent, newParent) = (request.parent.rawValue, request.newParent.rawValue)
        let code: Int32 = state.withLock { state in
            count("rename", &state)
            guard let number = state.nodes[parent]!.names[request.name] else { return ENOENT }
            let other = state.nodes[newParent]!.names[request.newName]
            switch request.mode {
            case .keeping where other != nil: return EEXIST
            case .exchanging where other == nil: return ENOENT
            case .exchanging: state.nodes[parent]!.names[request.name] = other
            default:
                state.nodes[parent]!.names[request.name] = nil
                if let other { state.nodes[other]!.status.st_nlink -= 1 }
            }
            state.nodes[newParent]!.names[request.newName] = number
            return 0
        }
        if code == 0 { reply.done() } else { reply.fail(code) }
    }

    func link(_ node: KernelNode, to name: [UInt8], in parent: KernelNode, reply: consuming EntryReply) {
        let made = state.withLock { state in
            count("link", &state)
            state.nodes[node.rawValue]!.status.st_nlink += 1
            state.nodes[parent.rawValue]!.names[name] = node.rawValue
            return entry(node.rawValue, &state)
        }
        reply.entry(made)
    }

    func symbolicLinkTarget(of node: KernelNode, reply: consuming BytesReply) {
        reply.bytes(state.withLock { $0.nodes[node.rawValue]!.content })
    }

    // MARK: File status and attributes

    func status(of node: KernelNode, handle: OpenFile?, reply: consuming FileStatusReply) {
        let answer = state.withLock { state in
            count("getattr", &state)
            return state.nodes[node.rawValue] == nil ? nil : status(node.rawValue, state)
        }
        if let answer { reply.status(answer, timeout: timeout) } else { reply.fail(ESTALE) }
    }

    func changeStatus(
        _ change: FileStatusChange, of node: KernelNode, handle: OpenFile?, reply: consuming FileStatusReply
    ) {
        let answer = state.withLock { state in
            count("setattr", &state)
            var changed = state.nodes[node.rawValue]!
            if let mode = change.mode {
                changed.status.st_mode = changed.status.st_mode & S_IFMT | mode & 0o7777
            }
            if let owner = change.owner { changed.status.st_uid = owner }
            if let group = change.group { changed.status.st_gid = group }
            if let size = change.size { resize(&changed.content, Int(size)) }
            if case .at(let time) = change.modificationTime { changed.status.st_mtim = time }
            if case .at(let time) = change.accessTime { changed.status.st_atim = time }
            state.nodes[node.rawValue] = changed
            return status(node.rawValue, state)
        }
        reply.status(answer, timeout: timeout)
    }

    func resize(_ content: inout [UInt8], _ size: Int) {
        if size < content.count { content.removeLast(content.count - size) }
        content += [UInt8](repeating: 0, count: size - content.count)
    }

    func extendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming ExtendedAttributeReply) {
        let value = state.withLock { state in
            count("getxattr", &state)
            return state.nodes[node.rawValue]!.attributes[name]
        }
        if let value { reply.value(value) } else { reply.fail(ENODATA) }
    }

    func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], flags: Int32, of node: KernelNode, reply: consuming DoneReply
    ) {
        state.withLock { state in
            count("setxattr", &state)
            state.nodes[node.rawValue]!.attributes[name] = value
        }
        reply.done()
    }

    func extendedAttributeNames(of node: KernelNode, reply: consuming ExtendedAttributeNamesReply) {
        reply.names(state.withLock { Array($0.nodes[node.rawValue]!.attributes.keys) })
    }

    func removeExtendedAttribute(_ name: [UInt8], of node: KernelNode, reply: consuming DoneReply) {
        let old = state.withLock { $0.nodes[node.rawValue]!.attributes.removeValue(forKey: name) }
        if old == nil { reply.fail(ENODATA) } else { reply.done() }
    }

    func inodeFlags(of node: KernelNode, reply: consuming InodeFlagsReply) {
        reply.flags(state.withLock { $0.nodes[node.rawValue]!.flags })
    }

    func setInodeFlags(_ flags: UInt32, mask: UInt32, of node: KernelNode, reply: consuming DoneReply) {
        state.withLock { state in
            let old = state.nodes[node.rawValue]!.flags
            state.nodes[node.rawValue]!.flags = old & ~mask | flags & mask
        }
        reply.done()
    }

    // MARK: Directories

    func list(_ node: KernelNode, from position: Int64, reply: consuming DirectoryReply) {
        var reply = reply
        state.withLock { state in
            count(reply.withEntries ? "readdirplus" : "readdir", &state)
            // The position after a node is its number, which stays valid when other nodes are removed.
            let names = state.nodes[node.rawValue]!.names.sorted { $0.value < $1.value }
            for (name, number) in names where Int64(number) > position {
                let type = UInt8(state.nodes[number]!.status.st_mode >> 12)
                let fits =
                    reply.withEntries
                    ? reply.add(name + [0], entry: entry(number, &state), next: Int64(number))
                    : reply.add(name + [0], inode: number, type: type, next: Int64(number))
                guard fits else {
                    if reply.withEntries { state.nodes[number]!.references -= 1 }
                    return
                }
            }
        }
        reply.send()
    }

    func synchronizeDirectory(_ node: KernelNode, dataOnly: Bool, reply: consuming DoneReply) {
        state.withLock { count("fsyncdir", &$0) }
        reply.done()
    }

    func statistics(of node: KernelNode, reply: consuming StatisticsReply) {
        let failure = state.withLock { state in
            count("statfs", &state)
            return state.statisticsFailure
        }
        if let failure { return reply.fail(failure) }
        reply.statistics(
            FileSystemStatistics(
                blockSize: 4096, blocks: 1000, freeBlocks: 600, availableBlocks: 500, files: 100, freeFiles: 90))
    }

    func ended() {
        state.withLock { $0.ended = true }
    }
}
