// The archive on its way to the host: buffers that are written here and hashed by a thread beside.

import Glibc
import HashFunctions
import Platform
import SandboxModel

/// What the hashing thread is to do with bytes of a buffer, or without any.
enum HashStep: Sendable {
    case content(Range<Int>)
    /// A hole.
    case zeros(Int64)
    /// Ends an entry, whose line then goes into the manifest.
    case end(kind: ManifestLine.Kind, TarEntry)
    /// An entry that is in the earlier backup.
    case line(ManifestLine)
}

/// Writes an archive from its beginning. Each buffer goes to the host and through SHA-256 at the same time: hashing alone
/// takes as long as all the rest, and there are two processors.
final class HashedOutput {
    private struct Work {
        var waiting: [(slot: Int, steps: [HashStep])] = []
        var isBusy = [Bool](repeating: false, count: HashedOutput.slots)
        var isComplete = false
        var isGivenUp = false
        /// What came of the manifest, once the thread has ended.
        var end: Result<ManifestEnd, SystemError>?
    }

    private static let slots = 4

    private let file: SharedDescriptor
    private let ring: [PageBuffer]
    private let work = Monitor(Work())
    private var thread: HostThread?
    private var isHashing = true
    private var slot = 0
    private var fill = 0
    private var steps: [HashStep] = []
    /// Of holes among the steps. They take as long to hash as data.
    private var zeros: Int64 = 0
    private static let mostZeros: Int64 = 64 << 20
    /// Bytes of the file before the present buffer.
    private var written: Int64 = 0

    /// - Parameter spill: an empty file that takes the manifest.
    init(_ file: SharedDescriptor, spill: SharedDescriptor) throws(SystemError) {
        self.file = file
        let ring = (0..<HashedOutput.slots).map { _ in PageBuffer(count: 1 << 20) }
        self.ring = ring
        let work = self.work
        thread = try HostThread(name: "backup-hash") { HashedOutput.hash(work, ring, spill) }
    }

    deinit {
        work.access { $0.isGivenUp = true }
        thread?.join()
    }

    private enum Order {
        case buffer(Int, [HashStep])
        case finish
        case end
    }

    private static func hash(_ work: Monitor<Work>, _ ring: [PageBuffer], _ file: SharedDescriptor) {
        var spill = ManifestSpill(file)
        var content = MessageDigest(.sha256)
        var failure: SystemError?
        while true {
            let order = work.wait { work -> Order? in
                if work.isGivenUp { return .end }
                if !work.waiting.isEmpty {
                    let (slot, steps) = work.waiting.removeFirst()
                    return .buffer(slot, steps)
                }
                return work.isComplete ? .finish : nil
            }
            switch order {
            case .end: return
            case .buffer(let slot, let steps):
                do throws(SystemError) {
                    // After a failure nothing comes of the manifest any more.
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
                        isHere: true, kind: kind, metadata: entry.digest,
                        content: kind == .file ? content.finish() : nil, path: entry.path))
            case .line(let line): try spill.append(line)
            }
        }
    }

    // MARK: What goes in

    /// Takes in what has no bytes in the archive.
    func append(_ step: HashStep) throws(SystemError) {
        steps.append(step)
        if case .zeros(let count) = step { zeros += count }
        // Of an incremental backup all may be lines, and what is hashed is not to fall far behind.
        if steps.count >= 4096 || zeros >= HashedOutput.mostZeros { try flush() }
    }

    /// - Parameter isContent: whether the bytes are an entry's content, of which the manifest has a digest.
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

    private func flush() throws(SystemError) {
        guard isHashing else { return try write() }
        let (slot, steps) = (slot, steps)
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

    private func write() throws(SystemError) {
        if fill > 0 { try file.descriptor.write(from: ring[slot], count: fill, to: written) }
        written += Int64(fill)
        fill = 0
    }

    /// Waits until all entries are in the manifest. What is appended from then on is hashed no more.
    func endManifest() throws(SystemError) -> ManifestEnd {
        try flush()
        isHashing = false
        work.access { $0.isComplete = true }
        return try work.wait { $0.end }.get()
    }

    /// Writes out what is left.
    func finish() throws(SystemError) {
        try write()
    }
}
