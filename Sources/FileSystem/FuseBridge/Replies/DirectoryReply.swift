// The reply to READDIR and READDIRPLUS: entries packed until the kernel's buffer is full.

import CFuse
import Glibc

/// A directory listing under construction. Add entries until one does not fit, then send.
@safe public struct DirectoryReply: ~Copyable, Reply, @unchecked Sendable {
    private let token: ReplyToken
    /// READDIRPLUS: the kernel wants each entry's status too. Each entry so listed is a reference to its node.
    public let withEntries: Bool
    /// Bytes of the kernel's buffer.
    private let capacity: Int
    private var used = 0
    private let buffer: Buffer

    init(token: consuming ReplyToken, withEntries: Bool, capacity: Int) {
        self.token = token
        self.withEntries = withEntries
        self.capacity = capacity
        buffer = Buffer(capacity)
    }

    /// Owns the memory, so that it is freed whether the reply is sent, fails or is dropped.
    @safe private struct Buffer: ~Copyable {
        @unsafe let start: UnsafeMutablePointer<CChar>

        init(_ capacity: Int) {
            unsafe start = .allocate(capacity: capacity)
        }

        deinit {
            unsafe start.deallocate()
        }
    }

    /// Adds an entry without its status.
    /// - Parameters:
    ///   - name: the entry's name, followed by one NUL.
    ///   - type: DT_REG, DT_DIR and so on, of readdir(3).
    ///   - next: the position at which the listing continues after this entry; never 0.
    /// - Returns: false if the entry does not fit: send the reply.
    public mutating func add(_ name: [UInt8], inode: UInt64, type: UInt8, next: Int64) -> Bool {
        var parameters = fuse_entry_param()
        parameters.attr.st_ino = ino_t(inode)
        // libfuse takes the type from the mode: DTTOIF of readdir(3).
        parameters.attr.st_mode = mode_t(type) << 12
        return add(name, parameters, next)
    }

    /// Adds an entry with its status. Use it if ``withEntries`` is true.
    /// - Returns: false if the entry does not fit; the kernel then has no reference to the node.
    public mutating func add(_ name: [UInt8], entry: KernelEntry, next: Int64) -> Bool {
        add(name, entry.parameters, next)
    }

    private mutating func add(_ name: [UInt8], _ parameters: fuse_entry_param, _ next: Int64) -> Bool {
        var parameters = parameters
        let space = capacity - used
        let target = unsafe buffer.start + used
        let plus = withEntries
        precondition(name.last == 0, "not a terminated name")
        let size = unsafe name.withUnsafeBytes { bytes in
            let name = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
            // Neither function reads its first argument, and both write only what fits.
            return plus
                ? unsafe fuse_add_direntry_plus(nil, target, space, name, &parameters, off_t(next))
                : unsafe fuse_add_direntry(nil, target, space, name, &parameters.attr, off_t(next))
        }
        guard size <= space else { return false }
        used += size
        return true
    }

    /// Sends the entries. An empty reply means the end of the directory.
    public consuming func send() {
        let count = used
        // The buffer lives until the end of this function; libfuse has sent by then.
        let start = unsafe UnsafePointer(buffer.start)
        let request = unsafe token.take()
        unsafe fuse_reply_buf(request, start, count)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}
