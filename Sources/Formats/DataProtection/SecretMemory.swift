// The memory of keys: locked against swapping, left out of core dumps, and zeroed when it is given back.

import Glibc
import HashFunctions
import Platform

/// Pages of locked memory cut into cells of one key each.
///
/// With a page for each key, two thousand open files would exhaust RLIMIT_MEMLOCK (8 MiB on Debian). With cells, a
/// quarter of a million keys fit. Pages are reused and never returned to the kernel.
///
/// Lock: `state`, innermost. Only the kernel is called under it.
@safe final class SecretArena: @unchecked Sendable {
    /// Bytes of every secret of this module: an AES-256 key, a Curve25519 key, a SHA-256 digest.
    static let cellSize = 32

    static let shared = unsafe SecretArena { start, count in unsafe mlock(start, count) == 0 }

    private struct State {
        /// Addresses of zeroed cells.
        var free: [UInt] = []
        var slabs = 0
        var unlockedSlabs = 0
    }

    /// In bytes; below the 64 KiB that old systems let a process lock.
    private let slabSize = 32768

    private let state = ShortLock(State())
    @unsafe private let lockPages: @Sendable (UnsafeMutableRawPointer, Int) -> Bool

    /// - Parameter lockPages: locks a range in memory, and returns whether it could. A parameter, so that a test can
    ///   refuse.
    @unsafe init(lockPages: @escaping @Sendable (UnsafeMutableRawPointer, Int) -> Bool) {
        unsafe self.lockPages = lockPages
    }

    /// Whether every page so far could be locked. False means that RLIMIT_MEMLOCK is too small.
    var isLocked: Bool { state.withLock { $0.unlockedSlabs == 0 } }

    var slabCount: Int { state.withLock { $0.slabs } }

    fileprivate func take() -> UnsafeMutableRawPointer {
        let address = state.withLock { state in
            if state.free.isEmpty { grow(&state) }
            return state.free.removeLast()
        }
        // Valid for the life of the process, because slabs are never unmapped, and out of the free list.
        return unsafe UnsafeMutableRawPointer(bitPattern: address)!
    }

    fileprivate func giveBack(_ cell: UnsafeMutableRawPointer) {
        unsafe explicit_bzero(cell, SecretArena.cellSize)
        let address = UInt(bitPattern: cell)
        state.withLock { $0.free.append(address) }
    }

    private func grow(_ state: inout State) {
        let slab = unsafe mmap(nil, slabSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let slab = unsafe slab, unsafe slab != MAP_FAILED else { preconditionFailure("out of memory for keys") }
        _ = unsafe madvise(slab, slabSize, MADV_DONTDUMP)
        // A device with too small a limit still works; the daemon reads the flag and warns once.
        if unsafe !lockPages(slab, slabSize) { state.unlockedSlabs += 1 }
        state.slabs += 1
        let start = UInt(bitPattern: slab)
        for offset in stride(from: slabSize - SecretArena.cellSize, through: 0, by: -SecretArena.cellSize) {
            state.free.append(start + UInt(offset))
        }
    }
}

/// 32 secret bytes with one owner. Zero at first, zeroed at the end.
@safe struct SecretCell: ~Copyable, @unchecked Sendable {
    /// Valid from init to deinit, for `count` bytes.
    @unsafe let base: UnsafeMutableRawPointer
    private let arena: SecretArena

    static let count = SecretArena.cellSize

    init(in arena: SecretArena = .shared) {
        self.arena = arena
        unsafe base = arena.take()
    }

    /// A copy of 32 bytes. The caller wipes its own.
    init(copying bytes: some Collection<UInt8>, in arena: SecretArena = .shared) {
        precondition(bytes.count == SecretCell.count, "a secret has 32 bytes")
        self.init(in: arena)
        unsafe UnsafeMutableRawBufferPointer(start: base, count: SecretCell.count).copyBytes(from: bytes)
    }

    /// A new random key.
    static func random() -> SecretCell {
        let cell = SecretCell()
        unsafe RandomBatch.shared.fill(UnsafeMutableRawBufferPointer(start: cell.base, count: SecretCell.count))
        return cell
    }

    borrowing func zero() {
        unsafe explicit_bzero(base, SecretCell.count)
    }

    deinit {
        unsafe arena.giveBack(base)
    }
}

extension MessageDigest {
    mutating func update(_ secret: borrowing SecretCell) {
        // The cell is borrowed for the call.
        update(unsafe RawSpan(_unsafeStart: secret.base, byteCount: SecretCell.count))
    }

    /// Ends the digest and stores it in the cell.
    mutating func finish(into cell: borrowing SecretCell) {
        unsafe finish(into: UnsafeMutableRawBufferPointer(start: cell.base, count: SecretCell.count))
    }
}

/// The state of the memory for keys in this process.
public enum SecretMemory {
    /// False once a page of keys, or of bytes that become keys, could not be locked: RLIMIT_MEMLOCK is too small, and a
    /// key may be swapped out. Keys work all the same; the process that serves a device warns once.
    public static var isLocked: Bool { SecretArena.shared.isLocked && RandomBatch.shared.isLocked }
}
