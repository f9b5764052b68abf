// Verification of a bundle against its seal: names, links and the signature first, content after that.

import Glibc
public import Platform
public import SandboxModel

/// A verification under way. The initializer examines everything but the files' content; ``finish(progress:)`` reads
/// the content.
public struct SealVerification {
    /// The outermost bundle's entries.
    public let tree: BundleTree
    public internal(set) var report = SealReport(breaks: [], warnings: [], signer: nil)
    /// The content that is still to be read.
    var checks: [ContentCheck] = []
    /// nil to accept any signer.
    private let trust: TrustedCertificates?
    /// Seconds since 1970.
    private let now: Int64

    /// Whether a bundle has a `_CodeSignature`.
    public static func isSigned(_ root: borrowing Descriptor) throws(SystemError) -> Bool {
        try root.exists(SealLayout.directory)
    }

    /// Examines a bundle and its nested bundles.
    /// - Parameters:
    ///   - name: the bundle's directory, for complaints.
    ///   - trust: certificates, one of which has to be the signer's or of its chain; nil to accept any signer.
    ///   - time: by which a provisioning profile expires: a device's for an installation.
    /// - Throws: ``Complaint`` of kind `unsigned` for a bundle without a signature, or with the host's error.
    public init(
        of root: SharedDescriptor, name: FileName, trust: TrustedCertificates?, at time: HostTime = .now
    ) throws(Complaint) {
        let doing = "cannot verify \(name.text)"
        self.trust = trust
        now = time.nanoseconds / 1_000_000_000
        tree = try Complaint.wrap(doing) { () throws(SystemError) in try BundleTree(of: root) }
        guard try Complaint.wrap(doing, { () throws(SystemError) in try SealVerification.isSigned(root.descriptor) })
        else {
            throw Complaint(
                .unsigned, "\(name.text) is not signed; sign it with: appcontainer seal \(name.text) --identity PATH")
        }
        _ = examine(Bundle(tree: tree, path: [], name: name, expectedHash: nil, level: 0))
        sortBreaks()
    }

    /// Bytes that ``finish(progress:)`` reads.
    public var bytes: Int64 { checks.reduce(0) { $0 + $1.size } }

    /// Reads the sealed files on all processors, and completes the report.
    /// - Parameter progress: called with the number of further bytes read; false cancels.
    /// - Returns: false when cancelled.
    public mutating func finish(progress: (Int64) -> Bool) throws(SystemError) -> Bool {
        let findings = ContentFindings()
        let checks = self.checks.sorted { $0.size > $1.size }
        let finished = try ParallelWork.run(checks.count, tool: FileHasher.init, progress: progress) {
            [tree] (hasher, number, meter) throws(SystemError) in
            try checks[number].perform(in: tree.root, hasher, meter, findings)
        }
        guard finished else { return false }
        add(findings)
        return true
    }

    /// Adds the findings of content checks that the caller ran.
    mutating func add(_ findings: ContentFindings) {
        report.breaks += findings.breaks
        sortBreaks()
    }

    private mutating func sortBreaks() {
        // By bytes, as sort(1) in the C locale, so that the order is the same in every language.
        report.breaks = Set(report.breaks).sorted { one, other in
            one.path == other.path
                ? one.kind.rawValue < other.kind.rawValue
                : one.path.utf8.lexicographicallyPrecedes(other.path.utf8)
        }
    }

    // MARK: One bundle

    /// The outermost bundle, or one that another bundle refers to.
    private struct Bundle {
        let tree: BundleTree
        /// From the outermost bundle; empty for that itself.
        let path: [FileName]
        let name: FileName
        /// The hash by which the bundle around this one refers to its code directory; nil for the outermost bundle.
        let expectedHash: [UInt8]?
        /// The number of bundles around this one.
        let level: Int

        /// A difference at a path from this bundle.
        func found(_ kind: SealBreak.Kind, _ inner: String) -> SealBreak {
            SealBreak(kind, path.isEmpty ? inner : path.text + "/" + inner)
        }
    }

    /// Examines a bundle, and the bundles that it refers to.
    /// - Returns: the hashes by which the bundle around this one may refer to it; empty without a signature.
    private mutating func examine(_ bundle: Bundle) -> [[UInt8]] {
        let root = bundle.tree.root
        let information = try? root.descriptor.openFile(at: [SealLayout.information]).readToEnd()
        let encoded = try? root.descriptor.openFile(at: [SealLayout.directory, SealLayout.resources])
            .readToEnd(limit: CodeResources.largest)
        let signature: CodeSignature
        let executable: FileName?
        do throws(CodeSignature.ReadError) {
            let found = try self.signature(of: bundle, information, encoded)
            (signature, executable) = (found.signature, found.executable)
            report.breaks += found.breaks.map { bundle.found($0.kind, $0.path) }
            report.warnings += signature.warnings
            if bundle.path.isEmpty { report.signer = found.breaks.isEmpty ? signature.verified?.signer : nil }
        } catch {
            report.breaks += error.breaks.map { bundle.found($0.kind, $0.path) }
            if information == nil { report.breaks.append(bundle.found(.missing, SealLayout.information.text)) }
            return []
        }

        for (slot, bytes, name) in [
            (CodeDirectory.infoSlot, information, SealLayout.information.text),
            (CodeDirectory.resourcesSlot, encoded, SealLayout.resourcesPath),
        ] {
            if let kind = SealVerification.kind(of: bytes, slot, signature.directories) {
                report.breaks.append(bundle.found(kind, name))
            }
        }
        examineCode(signature, executable, bundle)
        if let encoded { examineResources(encoded, signature, executable, bundle) }
        if let information, let information = try? BundleInformation(decoding: information, bundleName: bundle.name) {
            record(signature, information, of: bundle)
        }
        return signature.hashes
    }

    /// Records the facts of the outermost bundle, unless its seal is broken, and of app extensions.
    private mutating func record(_ signature: CodeSignature, _ information: BundleInformation, of bundle: Bundle) {
        if bundle.path.isEmpty {
            guard report.breaks.isEmpty else { return }
            report.facts = SealVerification.facts(of: signature, information, in: bundle.tree.root.descriptor, now: now)
            report.extensions.sort { $0.name.text < $1.name.text }
        } else if SealLayout.isExtension(bundle.path) {
            let facts = SealVerification.facts(of: signature, information, in: bundle.tree.root.descriptor, now: now)
            report.extensions.append(SealedExtension(name: bundle.name, facts: facts))
        }
    }

    /// A signature, with the flaws that leave it readable.
    private struct FoundSignature {
        let signature: CodeSignature
        let breaks: [SealBreak]
        /// The main executable, which it seals.
        let executable: FileName?
    }

    /// Reads the signature of a bundle.
    private func signature(
        of bundle: Bundle, _ information: [UInt8]?, _ encoded: [UInt8]?
    ) throws(CodeSignature.ReadError) -> FoundSignature {
        func read(_ executable: FileName?) throws(CodeSignature.ReadError) -> FoundSignature {
            let (signature, breaks) = try CodeSignature.read(
                of: bundle.tree.root.descriptor, executable: executable, trust: trust, named: bundle.expectedHash)
            return FoundSignature(signature: signature, breaks: breaks, executable: executable)
        }
        let named = information.flatMap { bytes in
            try? BundleInformation(decoding: bytes, bundleName: bundle.name).executable
        }
        let first: Result<FoundSignature, CodeSignature.ReadError>
        do throws(CodeSignature.ReadError) {
            let found = try read(named)
            let directories = found.signature.directories
            if SealVerification.kind(of: information, CodeDirectory.infoSlot, directories) == nil { return found }
            first = .success(found)
        } catch {
            first = .failure(error)
        }
        // An Info.plist that was changed may name another file.
        if let sealed = SealedExecutable.found(in: bundle.tree, encoded), sealed != named, let found = try? read(sealed)
        {
            return found
        }
        return try first.get()
    }

    /// Examines the files that the CodeResources of a bundle seals, and nested bundles.
    private mutating func examineResources(
        _ encoded: [UInt8], _ signature: CodeSignature, _ executable: FileName?, _ bundle: Bundle
    ) {
        do throws(SealFault) {
            let resources = try CodeResources(decoding: encoded)
            var examination = try ResourceExamination(resources, bundle.tree, executable: executable, signature)
            try examination.run()
            report.breaks += examination.breaks.map { bundle.found($0.kind, $0.path) }
            report.warnings += examination.warnings
            checks += examination.checks.map { $0.moved(below: bundle.path) }
            for (inner, hash) in examination.nested { examineNested(inner, hash, in: bundle) }
        } catch {
            report.breaks.append(bundle.found(.changed, SealLayout.resourcesPath))
        }
    }

    /// The difference between a file and its special slot in all code directories; nil if there is none.
    private static func kind(
        of bytes: [UInt8]?, _ slot: Int, _ directories: [CodeDirectory]
    ) -> SealBreak.Kind? {
        for directory in directories {
            switch (bytes, directory.special(slot)) {
            case (nil, nil): continue
            case (nil, _?): return .missing
            case (_?, nil): return .added
            case (let bytes?, let hash?): if directory.digest(of: bytes) != hash { return .changed }
            }
        }
        return nil
    }

    /// Examines a nested bundle, whose code directory has to have the hash by which the bundle refers to it.
    private mutating func examineNested(_ inner: [FileName], _ hash: [UInt8], in bundle: Bundle) {
        guard let name = inner.last, bundle.level + 1 < SealLayout.deepestNesting,
            let root = try? bundle.tree.root.descriptor.openDirectory(at: inner),
            let tree = try? BundleTree(of: SharedDescriptor(root))
        else {
            report.breaks.append(bundle.found(.missing, inner.text))
            return
        }
        let nested = Bundle(
            tree: tree, path: bundle.path + inner, name: name, expectedHash: hash, level: bundle.level + 1)
        let hashes = examine(nested)
        // Without hashes, the report has the reason already.
        guard hashes.isEmpty || hashes.contains(hash) else {
            report.breaks.append(nested.found(.changed, SealLayout.codeDirectoryPath))
            return
        }
    }

    /// Compares the main executable with the code that the signature seals, or leaves content checks for it.
    private mutating func examineCode(_ signature: CodeSignature, _ executable: FileName?, _ bundle: Bundle) {
        let path = bundle.path
        let entry = executable.flatMap { name in
            bundle.tree.entries.first { $0.lies(at: name) && $0.status.kind == .file }
        }
        switch signature.code {
        case .file(let directory):
            let isSealed = directory.codeSlots > 0
            switch (entry, isSealed) {
            case (nil, false): return
            case (nil, true):
                // Without an Info.plist the name is not known; the report has that break already.
                if let executable { report.breaks.append(bundle.found(.missing, executable.text)) }
            case (let entry?, false): report.breaks.append(bundle.found(.added, entry.path.text))
            case (let entry?, true):
                guard UInt64(entry.status.size) == directory.codeLimit, directory.codeSlots == 1 else {
                    report.breaks.append(bundle.found(.changed, entry.path.text))
                    return
                }
                checks.append(
                    ContentCheck(
                        path: path + entry.path, size: entry.status.size,
                        content: .digest(directory.hash, directory.codeHash(0))))
            }
        case .slices(let slices):
            guard let entry else { return }
            for slice in slices {
                let known = signature.directories.filter { slice.codeDirectories.contains($0) }
                guard known.allSatisfy(slice.blobSlotsAgree) else {
                    report.breaks.append(bundle.found(.signature, entry.path.text))
                    continue
                }
                for directory in known {
                    checks.append(
                        ContentCheck(
                            path: path + entry.path, size: Int64(directory.codeLimit),
                            content: .pages(slice, directory)))
                }
            }
        }
    }
}
