// A bundle's files against its CodeResources, by name, kind and link: what needs no reading.

import HashFunctions
import Platform
import SandboxModel

/// The examination of one bundle's resources. Bundles that it refers to are left to the caller.
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
    /// Code that is referred to by the hash of its code directory.
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

    /// - Throws: ``SealFault`` for code that is named by a path that is none, or twice.
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
            // By its bytes: what is another file to the host is not the executable, whatever Unicode says.
            if entry.lies(at: executable), entry.status.kind == .file { continue }
            let rule = rules.rule(for: path)
            if rule == nil || rule?.isOmitted == true, resources.sealed[path] == nil {
                // Info.plist is bound by the code directory, whatever the rules say of it.
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
        if isIncomplete { warnings.append("the seal leaves out what none of its rules match") }
    }

    /// Finds the code that is referred to. Each has one path, and code inside code is for that to name: else a list of
    /// resources could ask for the same to be examined any number of times, and again at each level.
    private mutating func findNested() throws(SealFault) -> Set<String> {
        var referred: Set<String> = []
        for (path, entry) in resources.sealed {
            guard case .nested(let hash, _) = entry.resource else { continue }
            var names: [FileName] = []
            for part in path.split(separator: "/", omittingEmptySubsequences: false) {
                guard let name = FileName(String(part)) else { throw SealFault("code is named by no path") }
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

    private mutating func examine(_ entry: BundleTree.Entry, _ path: String, _ resource: SealedResource) {
        switch (resource, entry.status.kind) {
        case (.symbolicLink(let target), .symbolicLink) where Array(target.utf8) == entry.target: return
        // Only a code directory may hold digests that are cut short.
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

    /// What lies in the signature's own directory is a part of the signature, or does not belong there.
    private mutating func examinePart(_ entry: BundleTree.Entry) {
        let path = entry.path.text
        guard entry.status.kind == .file else {
            breaks.append(SealBreak(.added, path))
            return
        }
        let isDetached = if case .file = signature.code { true } else { false }
        switch path {
        case SealLayout.resourcesPath: return
        case SealLayout.codeDirectoryPath, SealLayout.signaturePath:
            if isDetached { return }
        default:
            if let slot = SealLayout.slots[path], isDetached {
                // Each directory has to bind it.
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

    /// A signer may leave files out of the seal by rules of his own: then nobody would notice that they change.
    private mutating func warnOfOmissions() {
        let usual = Set(
            (ResourceRules.version1.rules + ResourceRules.version2.rules).filter(\.isOmitted).map(\.pattern))
        for rule in rules.rules where rule.isOmitted && !usual.contains(rule.pattern) {
            warnings.append("the seal leaves out what matches \(rule.pattern)")
        }
    }
}
