// Holding a bundle against its seal: what can be told from names, links and the signature first, content after that.

import Glibc
public import Platform
public import SandboxModel

/// A verification under way. Making one looks at everything but the files' content; ``finish(progress:)`` reads that.
public struct SealVerification {
    /// All that the bundle's directory holds.
    public let tree: BundleTree
    public internal(set) var report = SealReport(breaks: [], warnings: [], signer: nil)
    /// What is left to be read.
    var checks: [ContentCheck] = []

    /// Whether a bundle has been signed at all.
    public static func isSigned(_ root: borrowing Descriptor) throws(SystemError) -> Bool {
        try root.exists(SealLayout.directory)
    }

    /// - Parameters:
    ///   - name: the bundle's directory, for complaints.
    ///   - trust: of which certificates one has to be the signer's or lead to it; nil to accept any signer.
    /// - Throws: ``Complaint`` of kind `unsigned` for a bundle without a signature, or what the host says.
    public init(of root: SharedDescriptor, name: FileName, trust: TrustedCertificates?) throws(Complaint) {
        let doing = "cannot verify \(name.text)"
        tree = try Complaint.wrap(doing) { () throws(SystemError) in try BundleTree(of: root) }
        guard try Complaint.wrap(doing, { () throws(SystemError) in try SealVerification.isSigned(root.descriptor) })
        else {
            throw Complaint(
                .unsigned, "\(name.text) is not signed; sign it with: appcontainer seal \(name.text) --identity PATH")
        }
        _ = examine(tree, below: [], name: name, trust: trust, as: nil, level: 0)
        sortBreaks()
    }

    /// Bytes that ``finish(progress:)`` reads.
    public var bytes: Int64 { checks.reduce(0) { $0 + $1.size } }

    /// Reads what was sealed, on all processors.
    /// - Parameter progress: told how many bytes more were read; false cancels.
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

    mutating func add(_ findings: ContentFindings) {
        report.breaks += findings.breaks
        sortBreaks()
    }

    private mutating func sortBreaks() {
        // Byte by byte, as `sort` in the C locale: the same in every language.
        report.breaks = Set(report.breaks).sorted { one, other in
            one.path == other.path
                ? one.kind.rawValue < other.kind.rawValue
                : one.path.utf8.lexicographicallyPrecedes(other.path.utf8)
        }
    }

    // MARK: One bundle

    /// Examines a bundle, and those that it refers to.
    /// - Parameters:
    ///   - path: the bundle's, from the outermost one.
    ///   - hash: by which the bundle around it refers to it.
    /// - Returns: the hashes by which the bundle around it may refer to it.
    private mutating func examine(
        _ tree: BundleTree, below path: [FileName], name: FileName, trust: TrustedCertificates?, as hash: [UInt8]?,
        level: Int
    ) -> [[UInt8]] {
        let prefix = path.isEmpty ? "" : path.text + "/"
        func found(_ kind: SealBreak.Kind, _ inner: String) -> SealBreak { SealBreak(kind, prefix + inner) }
        let root = tree.root

        let information = try? root.descriptor.openFile(at: [SealLayout.information]).readToEnd()
        let executable = information.flatMap { bytes in
            try? BundleInformation(decoding: bytes, bundleName: name).executable
        }
        let signature: CodeSignature
        do throws(CodeSignature.Absence) {
            let (read, breaks) = try CodeSignature.read(
                of: root.descriptor, executable: executable, trust: trust, named: hash)
            signature = read
            report.breaks += breaks.map { found($0.kind, $0.path) }
            report.warnings += read.warnings
            if path.isEmpty { report.signer = breaks.isEmpty ? read.signer : nil }
        } catch {
            report.breaks += error.breaks.map { found($0.kind, $0.path) }
            if information == nil { report.breaks.append(found(.missing, SealLayout.information.text)) }
            return []
        }

        let encoded = try? root.descriptor.openFile(at: [SealLayout.directory, SealLayout.resources])
            .readToEnd(limit: CodeResources.largest)
        for (slot, bytes, name) in [
            (CodeDirectory.infoSlot, information, SealLayout.information.text),
            (CodeDirectory.resourcesSlot, encoded, SealLayout.resourcesPath),
        ] {
            if let kind = SealVerification.kind(of: bytes, slot, signature.directories) {
                report.breaks.append(found(kind, name))
            }
        }
        examineCode(signature, executable, tree, below: path)
        if let encoded {
            do throws(SealFault) {
                let resources = try CodeResources(decoding: encoded)
                var examination = try ResourceExamination(resources, tree, executable: executable, signature)
                try examination.run()
                report.breaks += examination.breaks.map { found($0.kind, $0.path) }
                report.warnings += examination.warnings
                checks += examination.checks.map { $0.moved(below: path) }
                for (inner, hash) in examination.nested {
                    examineNested(inner, hash, tree, below: path, trust: trust, level: level)
                }
            } catch {
                report.breaks.append(found(.changed, SealLayout.resourcesPath))
            }
        }
        return signature.hashes
    }

    /// How a file differs from what special slots of all code directories say.
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

    private mutating func examineNested(
        _ inner: [FileName], _ hash: [UInt8], _ tree: BundleTree, below path: [FileName], trust: TrustedCertificates?,
        level: Int
    ) {
        let place = path + inner
        guard let name = inner.last, level + 1 < SealLayout.deepestNesting,
            let root = try? tree.root.descriptor.openDirectory(at: inner),
            let innerTree = try? BundleTree(of: SharedDescriptor(root))
        else {
            report.breaks.append(SealBreak(.missing, place.text))
            return
        }
        let hashes = examine(innerTree, below: place, name: name, trust: trust, as: hash, level: level + 1)
        // Where there are none, it was told why.
        guard hashes.isEmpty || hashes.contains(hash) else {
            report.breaks.append(SealBreak(.changed, place.text + "/" + SealLayout.codeDirectoryPath))
            return
        }
    }

    private mutating func examineCode(
        _ signature: CodeSignature, _ executable: FileName?, _ tree: BundleTree, below path: [FileName]
    ) {
        let prefix = path.isEmpty ? "" : path.text + "/"
        let entry = executable.flatMap { name in
            tree.entries.first { $0.lies(at: name) && $0.status.kind == .file }
        }
        switch signature.code {
        case .file(let directory):
            let isSealed = directory.codeSlots > 0
            switch (entry, isSealed) {
            case (nil, false): return
            case (nil, true):
                // Without an Info.plist nobody knows its name, and that is told already.
                if let executable { report.breaks.append(SealBreak(.missing, prefix + executable.text)) }
            case (let entry?, false): report.breaks.append(SealBreak(.added, prefix + entry.path.text))
            case (let entry?, true):
                guard UInt64(entry.status.size) == directory.codeLimit, directory.codeSlots == 1 else {
                    report.breaks.append(SealBreak(.changed, prefix + entry.path.text))
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
                    report.breaks.append(SealBreak(.signature, prefix + entry.path.text))
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
