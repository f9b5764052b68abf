// The comparison of a bundle's backing copy with its list of digests: changed entries, and files that have to be read.

import BackingStore
import BundleSeal
import Platform
import SandboxModel
import Synchronization

/// A bundle's backing copy beside its list of digests. Status and links are compared at once, contents by
/// ``read(_:_:)``.
struct BundleComparison {
    private let bundle: SealedBundle
    /// Files to be read, by their number in the list, with their present status.
    private var doubtful: [(index: Int, status: FileStatus)] = []
    /// Paths in the bundle that are missing, added or changed.
    private(set) var breaks: [String] = []

    /// Compares all entries without reading contents.
    /// - Parameters:
    ///   - tree: the backing copy as it is now.
    ///   - readingAll: whether every file is to be read, also one that looks unchanged.
    init(_ bundle: SealedBundle, _ tree: BundleTree, readingAll: Bool) {
        self.bundle = bundle
        var numbers: [[FileName]: Int] = [:]
        for (index, entry) in bundle.digests.entries.enumerated() where !entry.path.isEmpty {
            numbers[entry.path] = index
        }
        for entry in tree.entries {
            guard let index = numbers.removeValue(forKey: entry.path) else {
                breaks.append(entry.path.text)
                continue
            }
            switch bundle.digests.entries[index].content {
            case .directory where entry.status.kind == .directory: continue
            case .symbolicLink(let target) where entry.status.kind == .symbolicLink && entry.target == target: continue
            case .file(let file) where entry.status.kind == .file && entry.status.size == file.size:
                // The same size, times and inode as when it was read last: trusted without reading (S-SEAL-6).
                if readingAll || file.trace != BundleDigests.Trace(entry.status) {
                    doubtful.append((index, entry.status))
                }
            default: breaks.append(entry.path.text)
            }
        }
        breaks += numbers.keys.map(\.text)
    }

    /// The number of files to be read, and of the bytes in them.
    var count: Int { doubtful.count }
    var bytes: Int64 { doubtful.reduce(0) { $0 + $1.status.size } }

    /// Reads the files in doubt, on all processors.
    /// - Parameter progress: gets the number of bytes read since its last call; false cancels.
    /// - Returns: false when cancelled.
    mutating func read(
        _ context: StoreContext, _ progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        let found = Breaks()
        let (bundle, doubtful) = (self.bundle, self.doubtful.sorted { $0.status.size > $1.status.size })
        let finished = try ParallelWork.run(doubtful.count, progress: progress) {
            (number, meter) throws(SystemError) in
            let index = doubtful[number].index
            if try !bundle.isRight(index, context, meter) {
                found.paths.withLock { $0.append(bundle.digests.entries[index].path.text) }
            }
        }
        breaks += found.paths.withLock { $0 }
        return finished
    }

    /// Collects paths from several threads.
    private final class Breaks: Sendable {
        let paths = Mutex<[String]>([])
    }

    /// The list with the present size, times and inodes of its files; nil where none has changed.
    var renewed: BundleDigests? {
        var digests = bundle.digests
        var isNew = false
        for (index, status) in doubtful {
            guard case .file(var file) = digests.entries[index].content else { continue }
            let trace = BundleDigests.Trace(status)
            isNew = isNew || file.trace != trace
            file.trace = trace
            digests.entries[index].content = .file(file)
        }
        return isNew ? digests : nil
    }
}

extension SealedBundle {
    /// Reads a file to its end; each block is compared with its hash.
    /// - Returns: false when a block is not what was installed.
    fileprivate func isRight(_ index: Int, _ context: StoreContext, _ meter: WorkMeter) throws(SystemError) -> Bool {
        do throws(Fault) {
            let file = try open(index, context: context)
            var position: Int64 = 0
            while position < file.size, !meter.isCancelled {
                var count: Int64 = 0
                try file.read(count: Workspace.largestTransfer, from: position) { count = Int64($0.count) }
                position += count
                meter.add(count)
            }
            return true
        } catch {
            guard case .system(let error) = error else { return false }
            throw error
        }
    }
}
