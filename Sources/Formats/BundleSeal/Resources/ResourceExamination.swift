// The comparison of a bundle's entries with its CodeResources by name, kind and link target, without reading files.

import HashFunctions
import Platform
import SandboxModel

/// The examination of one bundle's resources. The caller examines nested bundles (``nested``) and content (``checks``).
struct ResourceExamination {
    private let resources: CodeResources
    private let rules: ResourceRules
    private let tree: BundleTree
    private let executable: FileName?
    private let signature: CodeSignature

    private(set) var breaks: [SealBreak] = []
    private(set) var warnings: [String] = []
    /// Relative to this bundle.
    private(set) var checks: [ContentCheck] = []
    /// Nested code, each with the hash of its code directory.
    private(set) var nested: [(path: [FileName], hash: [UInt8])] = []

    init(
        _ resources: CodeResources, _ tree: BundleTree, executable: FileName?, _ signature: CodeSignature
    ) throws(SealFault) {
        self.resources = resources
        self.tree = tree
        self.executable = executable
        self.signature = signature
        rules = try ResourceRules(resources.sealedRules)
    }

    /// Examines all entries.
    /// - Throws: ``SealFault`` for nested code with an invalid path, or inside other nested code.
    mutating func run() throws(SealFault) {
        warnOfOmissions()
        let referred = try findNested()
        var isIncomplete = false
        var seen: Set<String> = []
        for entry in tree.entries where entry.status.kind != .directory {
            guard entry.path[0] != SealLayout.directory else {
                examinePart(entry)
                continue
            }
            guard let path = entry.sealPath else {
                breaks.append(SealBreak(.added, entry.path.text))
                continue
            }
            if path.lies(inOneOf: referred) { continue }
            // Compared by bytes: a name that only Unicode calls equal is another file to the host.
            if entry.lies(at: executable), entry.status.kind == .file { continue }
            let rule = rules.rule(for: path)
            if rule == nil || rule?.isOmitted == true, resources.sealed[path] == nil {
                // The code directory seals Info.plist, whatever the rules say.
                if rule == nil, !entry.lies(at: SealLayout.information) { isIncomplete = true }
                continue
            }
            guard let sealed = resources.sealed[path], seen.insert(path).inserted else {
                breaks.append(SealBreak(.added, path))
                continue
            }
            examine(entry, path, sealed.resource)
        }
        for (path, entry) in resources.sealed where !entry.isOptional && !seen.contains(path) {
            if case .nested = entry.resource { continue }
            breaks.append(SealBreak(.missing, path))
        }
        if isDetached { findMissingParts() }
        if isIncomplete { warnings.append("the seal leaves out what none of its rules match") }
    }

    /// Collects the nested code. Code inside nested code is that code's own to name: otherwise a CodeResources could
    /// have the same bundle examined any number of times, and again at each level.
    private mutating func findNested() throws(SealFault) -> Set<String> {
        var referred: Set<String> = []
        for (path, entry) in resources.sealed {
            guard case .nested(let hash, _) = entry.resource else { continue }
            var names: [FileName] = []
            for part in HostPath.parts(of: path) {
                guard let name = FileName(part) else { throw SealFault("code is named by no path") }
                names.append(name)
            }
            nested.append((names, hash))
            referred.insert(path)
        }
        guard !referred.contains(where: { $0.lies(inOneOf: referred) }) else {
            throw SealFault("code inside other code is named")
        }
        nested.sort { $0.path.text < $1.path.text }
        return referred
    }

    /// Compares one entry with its sealed resource, or leaves a content check for it.
    private mutating func examine(_ entry: BundleTree.Entry, _ path: String, _ resource: SealedResource) {
        switch (resource, entry.status.kind) {
        case (.symbolicLink(let target), .symbolicLink) where Array(target.utf8) == entry.target: return
        // Only a code directory may hold truncated digests.
        case (.file(_, let sha256?), .file) where sha256.count == HashFunction.sha256.length:
            check(entry, .sha256, sha256)
        case (.file(let sha1?, nil), .file) where sha1.count == HashFunction.sha1.length:
            check(entry, .sha1, sha1)
        default:
            breaks.append(SealBreak(.changed, path))
        }
    }

    private mutating func check(_ entry: BundleTree.Entry, _ function: HashFunction, _ digest: [UInt8]) {
        checks.append(
            ContentCheck(path: entry.path, size: entry.status.size, content: .digest(function, digest)))
    }

    /// Whether the signature is a number of files beside the executable.
    private var isDetached: Bool { if case .file = signature.code { true } else { false } }

    /// Finds the files of `_CodeSignature` that a code directory seals, and that are not there.
    private mutating func findMissingParts() {
        for (path, slot) in SealLayout.slots
        where signature.directories.contains(where: { $0.special(slot) != nil })
            && !tree.entries.contains(where: { $0.status.kind == .file && $0.path.text == path })
        {
            breaks.append(SealBreak(.missing, path))
        }
    }

    /// Examines an entry of `_CodeSignature`: a part of the signature, or an addition.
    private mutating func examinePart(_ entry: BundleTree.Entry) {
        let path = entry.path.text
        guard entry.status.kind == .file else {
            breaks.append(SealBreak(.added, path))
            return
        }
        switch path {
        case SealLayout.resourcesPath: return
        case SealLayout.codeDirectoryPath, SealLayout.signaturePath:
            if isDetached { return }
        default:
            if let slot = SealLayout.slots[path], isDetached {
                // Each code directory has to hold its hash.
                for directory in signature.directories {
                    guard let hash = directory.special(slot) else {
                        breaks.append(SealBreak(.added, path))
                        return
                    }
                    check(entry, directory.hash, hash)
                }
                return
            }
        }
        breaks.append(SealBreak(.added, path))
    }

    /// Warns of custom rules that omit files: a change of those files goes unnoticed.
    private mutating func warnOfOmissions() {
        let usual = Set(
            (ResourceRules.version1.rules + ResourceRules.version2.rules).filter(\.isOmitted).map(\.pattern))
        for rule in rules.rules where rule.isOmitted && !usual.contains(rule.pattern) {
            warnings.append("the seal leaves out what matches \(rule.pattern)")
        }
    }
}
