// The hash trees of all files of a bundle, one after the other in one file.

import HashFunctions
public import Platform
public import SandboxModel
import Synchronization

/// Where the tree of each file of a bundle lies, and how they are computed.
public struct HashTrees: Sendable {
    /// A file's tree.
    public struct File: Sendable {
        /// The number of the file among the bundle's entries.
        public let entry: Int
        /// Where its tree begins.
        public let offset: Int64
        fileprivate let layout: HashTreeLayout
    }

    public let tree: BundleTree
    public let files: [File]
    /// Bytes of content.
    public let bytes: Int64

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

    /// What the threads do: hold a file against its seal, or hash a piece of one.
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

    private final class Tools {
        let hasher = FileHasher()
        let builder = HashTreeBuilder()
    }

    private final class Roots: Sendable {
        let ofFiles = Mutex<[Int: [UInt8]]>([:])
    }

    /// Computes all trees on all processors, and what a verification has left to read with them: the seal's digest of a
    /// large file takes one processor as long as the file's tree takes another.
    ///
    /// - Parameters:
    ///   - trees: an empty file, open for reading and writing.
    ///   - verification: of the same bundle; nil when its content is known to be right.
    ///   - progress: told how many bytes more were hashed; false cancels.
    /// - Returns: the digest of each of ``files``; nil when cancelled.
    public func build(
        into trees: SharedDescriptor, verifying verification: inout SealVerification?, progress: (Int64) -> Bool
    ) throws(SystemError) -> [[UInt8]]? {
        var jobs = (verification?.checks ?? []).map { Job.check($0) }
        for (number, file) in files.enumerated() {
            for start in stride(from: 0, to: file.layout.size, by: Int(HashTreeBuilder.pieceLength)) {
                jobs.append(.piece(file: number, start: Int64(start)))
            }
        }
        // What takes longest cannot be divided: it goes first.
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
                    of: content, file.layout, from: start, into: trees.descriptor, at: file.offset, meter: meter)
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
                root = try builder.finish(file.layout, in: trees.descriptor, at: file.offset)
            } else if let only = roots.ofFiles.withLock({ $0[number] }) {
                root = only
            }
            digests.append(HashTreeLayout.digest(root: root, size: file.layout.size))
        }
        return digests
    }
}
