// The files of a bundle that go into its CodeResources, and the computation of their digests.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// The files of a bundle that a seal names, each with the hash functions that it needs.
struct SealPlan {
    /// The digests of all files of the plan.
    struct Digests {
        /// By index in `items`.
        fileprivate var sha1: [Int: [UInt8]] = [:]
        fileprivate var sha256: [Int: [UInt8]] = [:]
        /// SHA-256 of Info.plist.
        var information: [UInt8] = []
        /// SHA-256 and length in bytes of the main executable; nil if there is none.
        var executable: (hash: [UInt8], length: UInt64)?
    }

    /// A file to be hashed.
    private struct Item {
        /// The index of the file in the tree's entries.
        let entry: Int
        let path: String
        var functions: [HashFunction]
        var isExecutable = false
    }

    private let tree: BundleTree
    private var items: [Item] = []
    private var links: [(path: String, target: String, rule: ResourceRule)] = []
    /// The rules of version 1 and 2 that apply, by path.
    private var rules1: [String: ResourceRule] = [:]
    private var rules2: [String: ResourceRule] = [:]
    private let nested: Set<String>

    /// Applies codesign's default rules to all entries.
    /// - Parameter nested: the paths of bundles inside this one.
    /// - Throws: ``Complaint`` of kind `invalidApp` for entries that no seal can hold.
    init(_ tree: BundleTree, name: FileName, executable: FileName?, nested: Set<String>) throws(Complaint) {
        self.tree = tree
        self.nested = nested
        let referred = nested.filter { ResourceRules.version2.rule(for: $0)?.isNested == true }
        var known: Set<String> = []
        for (index, entry) in tree.entries.enumerated() {
            guard let path = try SealPlan.path(of: entry, name), entry.path[0] != SealLayout.directory else { continue }
            guard known.insert(path).inserted else {
                throw Complaint(
                    .invalidApp,
                    "\(name.text)/\(path) has a name that another file has in another normalization of Unicode")
            }
            if entry.status.kind == .symbolicLink {
                guard let target = String(validating: entry.target, as: UTF8.self), SealPlan.isText(target) else {
                    throw Complaint(
                        .invalidApp, "\(name.text)/\(path) is a link to a name that a seal cannot hold: it is not text")
                }
                if let rule = ResourceRules.version2.rule(for: path), !rule.isOmitted, !path.lies(inOneOf: referred) {
                    links.append((path, target, rule))
                }
                continue
            }
            if entry.lies(at: executable) {
                items.append(Item(entry: index, path: path, functions: [.sha256], isExecutable: true))
                continue
            }
            var functions: [HashFunction] = []
            // Files of nested code are left out of both versions: its signature differs each time it is made.
            let isReferredTo = path.lies(inOneOf: referred)
            if let rule = ResourceRules.version1.rule(for: path), !rule.isOmitted, !isReferredTo {
                rules1[path] = rule
                functions.append(.sha1)
            }
            if let rule = ResourceRules.version2.rule(for: path), !rule.isOmitted, !isReferredTo {
                rules2[path] = rule
                functions.append(.sha256)
            } else if path == SealLayout.information.text {
                functions.append(.sha256)
            }
            if !functions.isEmpty { items.append(Item(entry: index, path: path, functions: functions)) }
        }
        // The largest first, so that no thread begins a large file at the end.
        items.sort { tree.entries[$0.entry].status.size > tree.entries[$1.entry].status.size }
    }

    /// Whether a nested bundle is sealed by its code directory hash, instead of file by file.
    func isReferredTo(_ path: String) -> Bool { ResourceRules.version2.rule(for: path)?.isNested == true }

    /// The path of an entry as a seal holds it.
    /// - Returns: nil for a directory, which no seal names.
    /// - Throws: ``Complaint`` for names that are not text, and for fifos, sockets and devices.
    private static func path(of entry: BundleTree.Entry, _ name: FileName) throws(Complaint) -> String? {
        switch entry.status.kind {
        case .directory: return nil
        case .file, .symbolicLink: break
        case .fifo, .socket, .device:
            throw Complaint(
                .invalidApp, "\(name.text)/\(entry.path.text) is neither a file, a directory nor a symbolic link")
        }
        guard let path = entry.sealPath, isText(path) else {
            throw Complaint(
                .invalidApp, "\(name.text)/\(entry.path.text) has a name that a seal cannot hold: it is not text")
        }
        return path
    }

    /// Whether an XML property list can hold a text (XML 1.0, production `Char`).
    private static func isText(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x9, 0xA, 0xD: true
            case 0..<0x20, 0xFFFE, 0xFFFF: false
            default: true
            }
        }
    }

    /// Reads every file once, on all processors.
    /// - Parameters:
    ///   - doing: the beginning of an error message.
    ///   - progress: called with the number of further bytes read; false cancels.
    /// - Returns: nil when cancelled.
    func digests(_ doing: String, _ progress: (Int64) -> Bool) throws(Complaint) -> Digests? {
        let found = Found()
        let finished = try Complaint.wrap(doing) { () throws(SystemError) in
            try ParallelWork.run(items.count, tool: FileHasher.init, progress: progress) {
                [items, tree] (hasher, number, meter) throws(SystemError) in
                let item = items[number]
                let file = try tree.open(tree.entries[item.entry])
                if let digests = try hasher.digests(item.functions, of: file, meter: meter) {
                    found.digests.withLock { $0[number] = digests }
                }
            }
        }
        guard finished else { return nil }
        var digests = Digests()
        for (number, values) in found.digests.withLock({ $0 }) {
            let item = items[number]
            for (function, value) in zip(item.functions, values) {
                switch function {
                case .sha1: digests.sha1[number] = value
                default: digests.sha256[number] = value
                }
            }
            if item.path == SealLayout.information.text { digests.information = digests.sha256[number] ?? [] }
            if item.isExecutable, let hash = digests.sha256[number] {
                digests.executable = (hash, UInt64(tree.entries[item.entry].status.size))
            }
        }
        return digests
    }

    /// Digests by index in `items`, collected from the threads.
    private final class Found: Sendable {
        let digests = Mutex<[Int: [[UInt8]]]>([:])
    }

    /// The CodeResources of the plan, without nested code.
    func resources(_ digests: Digests) -> CodeResources {
        var resources = CodeResources()
        var files2: [String: CodeResources.Entry] = [:]
        for (number, item) in items.enumerated() where !item.isExecutable {
            if let rule = rules1[item.path], let digest = digests.sha1[number] {
                resources.files[item.path] = CodeResources.Entry(
                    resource: .file(sha1: digest, sha256: nil), isOptional: rule.isOptional)
            }
            if let rule = rules2[item.path], let digest = digests.sha256[number] {
                files2[item.path] = CodeResources.Entry(
                    resource: .file(sha1: nil, sha256: digest), isOptional: rule.isOptional)
            }
        }
        for link in links {
            files2[link.path] = CodeResources.Entry(
                resource: .symbolicLink(target: link.target), isOptional: link.rule.isOptional)
        }
        resources.files2 = files2
        resources.rules = ResourceRules.version1.rules
        resources.rules2 = ResourceRules.version2.rules
        return resources
    }
}

extension String {
    /// Whether the path lies below one of some directories.
    func lies(inOneOf directories: Set<String>) -> Bool {
        guard !directories.isEmpty else { return false }
        var end = startIndex
        while let slash = utf8[end...].firstIndex(of: UInt8(ascii: "/")) {
            if directories.contains(String(self[..<slash])) { return true }
            end = utf8.index(after: slash)
        }
        return false
    }
}
