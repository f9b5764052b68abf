// The hash trees of all files of a bundle, stored one after the other in one file.

import HashFunctions
public import Platform
public import SandboxModel
import Synchronization

/// The places of a bundle's hash trees, and their computation by several threads.
public struct HashTrees: Sendable {
    /// A file of the bundle, with its hash tree.
    public struct File: Sendable {
        /// The index of the file in the bundle's ``BundleTree/entries``.
        public let entry: Int
        /// The byte offset of its tree in the file of trees.
        public let offset: Int64
        let layout: HashTreeLayout
    }

    public let tree: BundleTree
    public let files: [File]
    /// Bytes of content of all files.
    public let bytes: Int64

    /// Lays the trees of a bundle's files out. Computes nothing yet.
    public init(of tree: BundleTree) {
        self.tree = tree
        var files: [File] = []
        var offset: Int64 = 0
        var bytes: Int64 = 0
        for (index, entry) in tree.entries.enumerated() where entry.status.kind == .file {
            let layout = HashTreeLayout(size: entry.status.size)
            files.append(File(entry: index, offset: offset, layout: layout))
            offset += layout.treeLength
            bytes += layout.size
        }
        self.files = files
        self.bytes = bytes
    }

    /// A unit of work for a thread: a file to verify, or a piece of one to hash.
    private enum Job {
        case check(ContentCheck)
        case piece(file: Int, start: Int64)

        var size: Int64 {
            switch self {
            case .check(let check): check.size
            case .piece: HashTreeBuilder.pieceLength
            }
        }
    }

    /// The buffers of one thread.
    private final class Tools {
        let hasher = FileHasher()
        let builder = HashTreeBuilder()
    }

    /// Hashes of files of one block, which have no tree, by index in ``files``.
    private final class Roots: Sendable {
        let ofFiles = Mutex<[Int: [UInt8]]>([:])
    }

    /// Computes all trees on all processors, together with the content checks of a verification: the seal's digest of a
    /// large file keeps one processor busy while others hash the file's tree.
    ///
    /// - Parameters:
    ///   - trees: an empty file, open for reading and writing.
    ///   - verification: of the same bundle; its findings are added. Nil if the content needs no verification.
    ///   - progress: called with the number of further bytes hashed; false cancels.
    /// - Returns: the digest of each of ``files``, as fs-verity gives it; nil when cancelled.
    public func build(
        into trees: SharedDescriptor, verifying verification: inout SealVerification?, progress: (Int64) -> Bool
    ) throws(SystemError) -> [[UInt8]]? {
        var jobs = (verification?.checks ?? []).map { Job.check($0) }
        for (number, file) in files.enumerated() {
            for start in stride(from: 0, to: file.layout.size, by: Int(HashTreeBuilder.pieceLength)) {
                jobs.append(.piece(file: number, start: Int64(start)))
            }
        }
        // Large checks first: a check is not divided, and must not be the last job to run.
        jobs =
            jobs.filter { $0.size > HashTreeBuilder.pieceLength }.sorted { $0.size > $1.size }
            + jobs.filter { $0.size <= HashTreeBuilder.pieceLength }
        let findings = ContentFindings()
        let roots = Roots()
        let finished = try ParallelWork.run(jobs.count, tool: Tools.init, progress: progress) {
            [jobs, files, tree] (tools, number, meter) throws(SystemError) in
            switch jobs[number] {
            case .check(let check): try check.perform(in: tree.root, tools.hasher, meter, findings)
            case .piece(let number, let start):
                let file = files[number]
                let content = try tree.open(tree.entries[file.entry])
                let root = try tools.builder.hashPiece(
                    of: content, file, from: start, into: trees.descriptor, meter: meter)
                if let root { roots.ofFiles.withLock { $0[number] = root } }
            }
        }
        guard finished else { return nil }
        verification?.add(findings)
        let builder = HashTreeBuilder()
        var digests: [[UInt8]] = []
        for (number, file) in files.enumerated() {
            var root = [UInt8](repeating: 0, count: HashFunction.sha256.length)
            if !file.layout.levels.isEmpty {
                root = try builder.finish(file, in: trees.descriptor)
            } else if let only = roots.ofFiles.withLock({ $0[number] }) {
                root = only
            }
            digests.append(HashTreeLayout.digest(root: root, size: file.layout.size))
        }
        return digests
    }
}
