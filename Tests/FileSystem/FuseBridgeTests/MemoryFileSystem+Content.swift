// Requests on the open files of the filesystem in memory.

import FuseBridge
import Glibc
import Platform
import Synchronization

extension MemoryFileSystem {
    func open(_ node: KernelNode, flags: Int32, reply: consuming OpenReply<OpenFile>) {
        state.withLock { state in
            count("open", &state)
            state.openFiles += 1
            if flags & O_TRUNC != 0 { state.nodes[node.rawValue]!.content = [] }
        }
        reply.opened(OpenFile(node.rawValue))
    }

    func create(_ new: NewNode, flags: Int32, reply: consuming CreateReply<OpenFile>) {
        let made: KernelEntry? = state.withLock { state in
            count("create", &state)
            guard let number = add(new.name, new.parent, new.mode, new.caller, &state) else { return nil }
            state.openFiles += 1
            return entry(number, &state)
        }
        if let made { reply.created(made, OpenFile(made.node.rawValue)) } else { reply.fail(EEXIST) }
    }

    func read(_ handle: OpenFile, count: Int, from offset: Int64, reply: consuming DataReply) {
        let content = state.withLock { state in
            self.count("read", &state)
            return state.nodes[handle.node]!.content
        }
        let start = min(Int(offset), content.count)
        let end = min(start + count, content.count)
        // Two pieces, to test the reply with iovecs.
        let middle = start + (end - start) / 2
        let pieces = [start..<middle, middle..<end].map { range in
            let buffer = PageBuffer(count: range.count)
            buffer.copy(content[range], to: 0)
            return (buffer: buffer, offset: 0, count: range.count)
        }
        reply.segments(pieces.count) { pieces[$0] }
    }

    func write(_ handle: OpenFile, bytes: RawSpan, to offset: Int64, reply: consuming CountReply) {
        let bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        state.withLock { state in
            count("write", &state)
            let end = Int(offset) + bytes.count
            if state.nodes[handle.node]!.content.count < end { resize(&state.nodes[handle.node]!.content, end) }
            state.nodes[handle.node]!.content.replaceSubrange(Int(offset)..<end, with: bytes)
        }
        reply.count(bytes.count)
    }

    func mustZeroContent(_ handle: OpenFile) -> Bool { state.withLock { $0.isSecret } }

    func close(_ handle: OpenFile) {
        state.withLock { state in
            count("close", &state)
            state.openFiles -= 1
        }
        hasClosed.signal()
    }

    func synchronize(_ handle: OpenFile, dataOnly: Bool, reply: consuming DoneReply) {
        state.withLock { count("fsync", &$0) }
        reply.done()
    }

    func allocate(_ handle: OpenFile, mode: Int32, offset: Int64, count: Int64, reply: consuming DoneReply) {
        guard mode == 0 else { return reply.fail(EOPNOTSUPP) }
        state.withLock { state in
            self.count("fallocate", &state)
            let end = Int(offset + count)
            if state.nodes[handle.node]!.content.count < end { resize(&state.nodes[handle.node]!.content, end) }
        }
        reply.done()
    }

    func seek(_ handle: OpenFile, from offset: Int64, toHole: Bool, reply: consuming PositionReply) {
        let (length, isLate) = state.withLock { state in
            (Int64(state.nodes[handle.node]!.content.count), state.seeksAreLate)
        }
        guard isLate else { return MemoryFileSystem.answer(reply, offset, length, toHole) }
        let late = LateReply(reply)
        let thread = try? HostThread(name: "late") {
            self.goOn.wait()
            late.send { MemoryFileSystem.answer($0, offset, length, toHole) }
        }
        thread?.detach()
        state.withLock { $0.lateSeeks += 1 }
    }

    private static func answer(_ reply: consuming PositionReply, _ offset: Int64, _ length: Int64, _ toHole: Bool) {
        if offset >= length { reply.fail(ENXIO) } else { reply.position(toHole ? length : offset) }
    }

    /// A reply that another thread sends.
    private final class LateReply: Sendable {
        private let reply: Mutex<PositionReply?>

        init(_ reply: consuming sending PositionReply) {
            self.reply = Mutex(reply)
        }

        func send(_ body: (consuming PositionReply) -> Void) {
            guard let reply = reply.withLock({ $0.take() }) else { return }
            body(reply)
        }
    }

    func copy(_ range: CopyRange<OpenFile>, reply: consuming CountReply) {
        let (source, target, targetOffset) = (range.source, range.target, range.targetOffset)
        let copied = state.withLock { state in
            count("copy", &state)
            let content = state.nodes[source.node]!.content.dropFirst(Int(range.sourceOffset)).prefix(range.count)
            let end = Int(targetOffset) + content.count
            if state.nodes[target.node]!.content.count < end { resize(&state.nodes[target.node]!.content, end) }
            state.nodes[target.node]!.content.replaceSubrange(Int(targetOffset)..<end, with: content)
            return content.count
        }
        reply.count(copied)
    }
}
