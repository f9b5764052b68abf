// The answer to READDIR and READDIRPLUS: entries packed one after the other until the kernel's buffer is full.

import CFuse
import Glibc

@safe public struct DirectoryReply: ~Copyable, Reply, @unchecked Sendable {
    private let token: ReplyToken
    /// Does the kernel want each entry's attributes too? Each entry listed with them is a reference to its node.
    public let withEntries: Bool
    private let capacity: Int
    private var used = 0
    // Owned: allocated in init, freed when the reply ends, however it ends.
    private let buffer: Buffer

    init(token: consuming ReplyToken, withEntries: Bool, capacity: Int) {
        self.token = token
        self.withEntries = withEntries
        self.capacity = capacity
        buffer = Buffer(capacity)
    }

    @safe private struct Buffer: ~Copyable {
        @unsafe let start: UnsafeMutablePointer<CChar>

        init(_ capacity: Int) {
            unsafe start = .allocate(capacity: capacity)
        }

        deinit {
            unsafe start.deallocate()
        }
    }

    /// Lists an entry without attributes.
    /// - Parameters:
    ///   - name: the entry's name, followed by one NUL.
    ///   - type: DT_REG and its siblings.
    ///   - next: the position from which the list goes on after this entry; never 0.
    /// - Returns: false when it does not fit any more: send what there is.
    public mutating func add(_ name: [UInt8], inode: UInt64, type: UInt8, next: Int64) -> Bool {
        var parameters = fuse_entry_param()
        parameters.attr.st_ino = ino_t(inode)
        parameters.attr.st_mode = mode_t(type) << 12
        return add(name, parameters, next)
    }

    /// Lists an entry with its attributes, to be used when ``withEntries``.
    /// - Returns: false when it does not fit any more; the kernel then has no reference to the node.
    public mutating func add(_ name: [UInt8], entry: KernelEntry, next: Int64) -> Bool {
        add(name, entry.parameters, next)
    }

    private mutating func add(_ name: [UInt8], _ parameters: fuse_entry_param, _ next: Int64) -> Bool {
        var parameters = parameters
        let room = capacity - used
        let target = unsafe buffer.start + used
        let plus = withEntries
        precondition(name.last == 0, "not a terminated name")
        let size = unsafe name.withUnsafeBytes { bytes in
            let name = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
            // Neither function looks at its first argument, and both write only what fits.
            return plus
                ? unsafe fuse_add_direntry_plus(nil, target, room, name, &parameters, off_t(next))
                : unsafe fuse_add_direntry(nil, target, room, name, &parameters.attr, off_t(next))
        }
        guard size <= room else { return false }
        used += size
        return true
    }

    /// Sends what was added; nothing added means the end of the directory.
    public consuming func send() {
        let count = used
        // The buffer lives until the end of this function, and libfuse has sent by then.
        let start = unsafe UnsafePointer(buffer.start)
        let request = unsafe token.take()
        unsafe fuse_reply_buf(request, start, count)
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}
