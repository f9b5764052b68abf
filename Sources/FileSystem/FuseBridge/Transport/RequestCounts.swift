// The number of requests that were served, by kind.

import Platform
import Synchronization

/// The requests that one thread has served since the process started, by their opcodes. Only that thread writes.
///
/// Lock: `pool`, a leaf, when a thread starts or ends and when the numbers are read; never for a request.
public final class RequestCounts: Sendable {
    /// Those of threads that have ended are given to the next ones, with their numbers: so the sum never falls.
    private static let pool = ShortLock(Pool())

    private struct Pool {
        var all: [RequestCounts] = []
        var free: [RequestCounts] = []
    }

    private let counts = InlineArray<64, Atomic<UInt64>> { _ in Atomic(0) }

    private init() {}

    /// Counts for a thread that is about to serve requests.
    static func take() -> RequestCounts {
        pool.withLock { pool in
            if let free = pool.free.popLast() { return free }
            let new = RequestCounts()
            pool.all.append(new)
            return new
        }
    }

    /// Takes the counts of a thread back that serves no more.
    static func giveBack(_ counts: RequestCounts) { pool.withLock { $0.free.append(counts) } }

    /// - Parameter opcode: as linux/fuse.h numbers requests.
    @inline(__always)
    func add(_ opcode: UInt32) {
        let index = Int(opcode & 63)
        counts[index].store(counts[index].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// The requests of all mounts since the process started, by the names of linux/fuse.h in lower case, without those
    /// that did not come.
    public static var total: [String: UInt64] {
        var total: [String: UInt64] = [:]
        for counts in pool.withLock({ $0.all }) {
            for (opcode, name) in names {
                let count = counts.counts[opcode].load(ordering: .relaxed)
                if count > 0 { total[name, default: 0] += count }
            }
        }
        return total
    }

    private static let names: [Int: String] = [
        1: "lookup", 2: "forget", 3: "getattr", 4: "setattr", 5: "readlink", 6: "symlink", 8: "mknod", 9: "mkdir",
        10: "unlink", 11: "rmdir", 12: "rename", 13: "link", 14: "open", 15: "read", 16: "write", 17: "statfs",
        18: "release", 20: "fsync", 21: "setxattr", 22: "getxattr", 23: "listxattr", 24: "removexattr", 25: "flush",
        26: "init", 27: "opendir", 28: "readdir", 30: "fsyncdir", 35: "create", 36: "interrupt", 38: "destroy",
        39: "ioctl", 41: "notify_reply", 42: "forget", 43: "fallocate", 44: "readdir", 45: "rename", 46: "lseek",
        47: "copy_file_range",
    ]
}
