// What of a bundle goes into its CodeResources, and the digests for that.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// The files of a bundle that a seal names, each with the digests that it needs.
struct SealPlan {
    struct Digests {
        fileprivate var sha1: [Int: [UInt8]] = [:]
        fileprivate var sha256: [Int: [UInt8]] = [:]
        /// Of Info.plist.
        var information: [UInt8] = []
        /// Of the main executable; nil where there is none.
        var executable: (hash: [UInt8], length: UInt64)?
    }

    private struct Item {
        let entry: Int
        let path: String
        var functions: [HashFunction]
        var isExecutable = false
    }

    private let tree: BundleTree
    private var items: [Item] = []
    private var links: [(path: String, target: String, rule: ResourceRule)] = []
    private var rules1: [String: ResourceRule] = [:]
    private var rules2: [String: ResourceRule] = [:]
    private let nested: Set<String>

    /// - Parameter nested: the paths of bundles inside this one.
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
            // Code that is referred to is left out of both: its signature is another each time that it is made.
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
        // The longest first, so that no thread is left with one at the end.
        items.sort { tree.entries[$0.entry].status.size > tree.entries[$1.entry].status.size }
    }

    /// Whether a bundle inside this one is named by its code directory, not file by file.
    func isReferredTo(_ path: String) -> Bool { ResourceRules.version2.rule(for: path)?.isNested == true }

    /// - Returns: nil for a directory, which no seal names.
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

    /// Whether an XML property list can hold it (XML 1.0, Char).
    private static func isText(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x9, 0xA, 0xD: true
            case 0..<0x20, 0xFFFE, 0xFFFF: false
            default: true
            }
        }
    }

    /// Reads every file once.
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

    private final class Found: Sendable {
        let digests = Mutex<[Int: [[UInt8]]]>([:])
    }

    /// The list of what is sealed, without the nested code that is referred to.
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
    /// Whether a path lies below one of some directories.
    func lies(inOneOf directories: Set<String>) -> Bool {
        guard !directories.isEmpty else { return false }
        var end = startIndex
        while let slash = self[end...].firstIndex(of: "/") {
            if directories.contains(String(self[..<slash])) { return true }
            end = index(after: slash)
        }
        return false
    }
}
