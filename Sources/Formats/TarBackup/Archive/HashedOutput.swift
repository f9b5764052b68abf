// The output of an archive: buffers that the caller's thread writes, while another thread hashes them for the manifest.

import Glibc
import HashFunctions
import Platform
import SandboxModel
import TarFormat

/// A step of the hashing thread.
enum HashStep: Sendable {
    /// Hashes bytes of the buffer, as content of the current entry.
    case content(Range<Int>)
    /// Hashes a hole of so many bytes, as zeros.
    case zeros(Int64)
    /// Ends the current entry: its line goes into the manifest.
    case end(kind: ManifestLine.Kind, TarEntry)
    /// Adds the line of an entry that is in the earlier backup.
    case line(ManifestLine)
}

/// Writes an archive from its beginning, and makes its manifest.
///
/// Each buffer of a ring is written and hashed at the same time: SHA-256 takes as long as everything else together. One
/// thread may append; the hashing thread belongs to this object, and shares only `work`, under its lock.
final class HashedOutput: TarOutput {
    /// The state that both threads share.
    private struct Work {
        /// Buffers to be hashed, in order.
        var waiting: [(slot: Int, steps: [HashStep])] = []
        /// The buffers that are not hashed yet, and must not be overwritten.
        var isBusy = [Bool](repeating: false, count: HashedOutput.slots)
        /// Set when no further buffer comes, so that the thread ends the manifest.
        var isComplete = false
        /// Set by deinit: the thread ends without a manifest.
        var isCancelled = false
        /// The result of the thread.
        var end: Result<ManifestEnd, SystemError>?
    }

    /// The number of buffers in the ring.
    private static let slots = 4

    private let file: SharedDescriptor
    private let ring: [PageBuffer]
    private let work = Monitor(Work())
    private var thread: HostThread?
    private var isHashing = true
    /// The current buffer, its bytes, and its steps.
    private var slot = 0
    private var fill = 0
    private var steps: [HashStep] = []
    /// Bytes of holes among the steps, and their limit: they take as long to hash as data.
    private var zeros: Int64 = 0
    private static let mostZeros: Int64 = 64 << 20
    /// Bytes of the file before the current buffer.
    private var written: Int64 = 0

    /// Starts the hashing thread.
    /// - Parameters:
    ///   - file: the empty file of the archive.
    ///   - spill: an empty file for the manifest.
    init(_ file: SharedDescriptor, spill: SharedDescriptor) throws(SystemError) {
        self.file = file
        let ring = (0..<HashedOutput.slots).map { _ in PageBuffer(count: 1 << 20) }
        self.ring = ring
        let work = self.work
        thread = try HostThread(name: "backup-hash") { HashedOutput.hash(work, ring, spill) }
    }

    deinit {
        work.access { $0.isCancelled = true }
        thread?.join()
    }

    /// The next thing for the hashing thread to do.
    private enum Order {
        case buffer(Int, [HashStep])
        /// End the manifest.
        case finish
        case cancel
    }

    /// The body of the hashing thread.
    private static func hash(_ work: Monitor<Work>, _ ring: [PageBuffer], _ file: SharedDescriptor) {
        var spill = ManifestSpill(file)
        var content = MessageDigest(.sha256)
        var failure: SystemError?
        while true {
            let order = work.wait { work -> Order? in
                if work.isCancelled { return .cancel }
                if !work.waiting.isEmpty {
                    let (slot, steps) = work.waiting.removeFirst()
                    return .buffer(slot, steps)
                }
                return work.isComplete ? .finish : nil
            }
            switch order {
            case .cancel: return
            case .buffer(let slot, let steps):
                do throws(SystemError) {
                    // After a failure there is no manifest, but buffers must still become free.
                    if failure == nil { try hash(steps, ring[slot], &content, &spill) }
                } catch {
                    failure = error
                }
                work.access { $0.isBusy[slot] = false }
            case .finish:
                var end: Result<ManifestEnd, SystemError>
                do throws(SystemError) {
                    if let failure { throw failure }
                    end = .success(try spill.finish())
                } catch {
                    end = .failure(error)
                }
                work.access { $0.end = end }
                return
            }
        }
    }

    /// Runs the steps of one buffer.
    private static func hash(
        _ steps: [HashStep], _ buffer: PageBuffer, _ content: inout MessageDigest, _ spill: inout ManifestSpill
    ) throws(SystemError) {
        for step in steps {
            switch step {
            case .content(let range): content.update(buffer, at: range.lowerBound, count: range.count)
            case .zeros(let count): content.update(zeros: count)
            case .end(let kind, let entry):
                try spill.append(
                    ManifestLine(
                        isInThisArchive: true, kind: kind, metadata: entry.digest,
                        content: kind == .file ? content.finish() : nil, path: entry.path))
            case .line(let line): try spill.append(line)
            }
        }
    }

    // MARK: Input

    /// Appends a step that has no bytes in the archive.
    func append(_ step: HashStep) throws(SystemError) {
        steps.append(step)
        if case .zeros(let count) = step { zeros += count }
        // An incremental backup may consist of lines only, which would never fill a buffer.
        if steps.count >= 4096 || zeros >= HashedOutput.mostZeros { try flush() }
    }

    /// Appends a hole of the content, which is hashed as zeros.
    func append(hole count: Int64) throws(SystemError) { try append(.zeros(count)) }

    /// Appends bytes of the archive, of which content is hashed.
    func append(_ bytes: borrowing RawSpan, isContent: Bool) throws(SystemError) {
        var done = 0
        while done < bytes.byteCount {
            let count = min(bytes.byteCount - done, ring[slot].count - fill)
            ring[slot].copy(bytes.extracting(done..<(done + count)), to: fill)
            if isContent { steps.append(.content(fill..<(fill + count))) }
            fill += count
            done += count
            if fill == ring[slot].count { try flush() }
        }
    }

    /// Gives the buffer to the hashing thread, writes it, and goes on to the next buffer once that is free.
    private func flush() throws(SystemError) {
        guard isHashing else { return try write() }
        let (slot, steps) = (slot, steps)
        // Before the write, so that both run at the same time.
        work.access { work in
            work.isBusy[slot] = true
            work.waiting.append((slot, steps))
        }
        self.steps.removeAll(keepingCapacity: true)
        zeros = 0
        try write()
        let next = (slot + 1) % HashedOutput.slots
        self.slot = next
        work.wait { $0.isBusy[next] ? nil : () }
    }

    /// Writes the buffer to the file.
    private func write() throws(SystemError) {
        if fill > 0 { try file.descriptor.write(from: ring[slot], count: fill, to: written) }
        written += Int64(fill)
        fill = 0
    }

    /// Waits until all entries are in the manifest. Bytes appended afterwards are not hashed.
    /// - Throws: errors of the host, also those that the hashing thread has met.
    func endManifest() throws(SystemError) -> ManifestEnd {
        try flush()
        isHashing = false
        work.access { $0.isComplete = true }
        return try work.wait { $0.end }.get()
    }

    /// Writes the last buffer.
    /// Does not synchronize the file.
    func finish() throws(SystemError) {
        try write()
    }
}
