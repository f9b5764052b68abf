// Signing a bundle as codesign signs one whose main executable is not a Mach-O.

import Glibc
import HashFunctions
public import Platform
public import SandboxModel

/// Writes `_CodeSignature` into a bundle, and before that into each nested bundle.
public struct BundleSealer {
    private let identity: SigningIdentity
    /// Those of the outermost bundle.
    private let entitlements: SealedEntitlements?
    private let keepsInnerEntitlements: Bool

    /// - Parameters:
    ///   - entitlements: those of the outermost bundle; nil for none.
    ///   - keepsInnerEntitlements: whether nested bundles keep those of the signature that they have. Otherwise they
    ///     get none: what their signature says was not checked.
    public init(
        identity: SigningIdentity, entitlements: SealedEntitlements? = nil, keepsInnerEntitlements: Bool = false
    ) {
        self.identity = identity
        self.entitlements = entitlements
        self.keepsInnerEntitlements = keepsInnerEntitlements
    }

    /// Seals a bundle and replaces an earlier seal. Equal content gives an equal CodeResources and an equal
    /// CodeDirectory. The signature of code outside the directories for nested code counts as content.
    ///
    /// - Parameters:
    ///   - name: the bundle's directory, for complaints.
    ///   - progress: called with the number of further bytes read; false cancels and keeps the earlier seal.
    /// - Returns: false when cancelled.
    /// - Throws: ``Complaint`` of kind `invalidApp`, `invalidEntitlements` for those that a nested bundle is to keep,
    ///   or with the host's error.
    public func seal(
        _ root: SharedDescriptor, name: FileName, progress: (Int64) -> Bool
    ) throws(Complaint) -> Bool {
        try seal(root, name, level: 0, progress) != nil
    }

    /// A bundle on its way to be sealed.
    private struct Bundle {
        let root: SharedDescriptor
        let name: FileName
        let information: BundleInformation
        let entitlements: SealedEntitlements?
    }

    /// Seals the nested bundles, then this one.
    /// - Parameter level: the number of bundles around this one.
    /// - Returns: the hash of the code directory, and the identifier in it; nil when cancelled.
    private func seal(
        _ root: SharedDescriptor, _ name: FileName, level: Int, _ progress: (Int64) -> Bool
    ) throws(Complaint) -> (hash: [UInt8], identifier: String)? {
        let doing = "cannot seal \(name.text)"
        guard level < SealLayout.deepestNesting else {
            throw Complaint(.invalidApp, "\(name.text) lies in more than \(level) bundles, one in the other")
        }
        let information = try BundleInformation(of: root.descriptor, bundleName: name)
        var tree = try Complaint.wrap(doing) { () throws(SystemError) in try BundleTree(of: root) }
        var nested: [String: (hash: [UInt8], identifier: String)] = [:]
        let bundles = SealLayout.nestedBundles(in: tree)
        for path in bundles {
            let inner = try Complaint.wrap(doing) { () throws(SystemError) in
                SharedDescriptor(try root.descriptor.openDirectory(at: path))
            }
            guard let sealed = try seal(inner, path.last!, level: level + 1, progress) else { return nil }
            nested[path.text] = sealed
        }
        if !bundles.isEmpty {
            // The tree lacks the signatures that were just written.
            tree = try Complaint.wrap(doing) { () throws(SystemError) in try BundleTree(of: root) }
        }
        let plan = try SealPlan(tree, name: name, executable: information.executable, nested: Set(nested.keys))
        guard let digests = try plan.digests(doing, progress) else { return nil }
        var resources = plan.resources(digests)
        for (path, sealed) in nested where plan.isReferredTo(path) {
            resources.files2?[path] = CodeResources.Entry(
                resource: .nested(codeDirectoryHash: sealed.hash, requirement: requirement(sealed.identifier)))
        }
        let bundle = Bundle(
            root: root, name: name, information: information,
            entitlements: level == 0 ? entitlements : try innerEntitlements(root, name))
        return try write(resources, digests, bundle)
    }

    /// The entitlements of a nested bundle.
    /// - Throws: ``Complaint`` of kind `invalidEntitlements`.
    private func innerEntitlements(_ root: SharedDescriptor, _ name: FileName) throws(Complaint) -> SealedEntitlements?
    {
        guard keepsInnerEntitlements else { return nil }
        do throws(SealFault) {
            return try SealedEntitlements(keptFrom: root.descriptor)
        } catch {
            throw Complaint(
                .invalidEntitlements, "cannot seal \(name.text) with the entitlements it has: \(error.reason)")
        }
    }

    /// The designated requirement of nested code: its identifier and this signer (Apple, Code Signing Requirement
    /// Language).
    private func requirement(_ identifier: String) -> String {
        "identifier \"\(identifier)\" and certificate leaf = H\"\(identity.certificateHash.hexadecimal)\""
    }

    /// Signs the code directory, and writes the three files of the signature.
    private func write(
        _ resources: CodeResources, _ digests: SealPlan.Digests, _ bundle: Bundle
    ) throws(Complaint) -> (hash: [UInt8], identifier: String) {
        let (root, doing) = (bundle.root, "cannot seal \(bundle.name.text)")
        let parts = bundle.entitlements?.parts ?? []
        let directory: CodeDirectory
        let encoded: [UInt8]
        let signature: [UInt8]
        do throws(SealFault) {
            encoded = try resources.encoded()
            var special = [
                CodeDirectory.infoSlot: digests.information,
                CodeDirectory.resourcesSlot: HashFunction.sha256.digest(of: encoded),
            ]
            for part in parts { special[part.slot] = HashFunction.sha256.digest(of: part.bytes) }
            directory = CodeDirectory(
                identifier: bundle.information.identifier.text, team: bundle.entitlements?.team, special: special,
                code: digests.executable)
            signature = try CMSSignature.sign(directory.bytes, by: identity)
        } catch {
            throw Complaint(.invalidIdentity, "\(doing): \(error.reason)")
        }
        try Complaint.wrap(doing) { () throws(SystemError) in
            if try !root.descriptor.exists(SealLayout.directory) {
                try root.descriptor.makeDirectory(SealLayout.directory, mode: 0o755)
            }
            let target = try root.descriptor.openDirectory(SealLayout.directory)
            try target.replaceFile(SealLayout.resources, with: encoded)
            try target.replaceFile(SealLayout.codeDirectory, with: directory.bytes)
            for part in parts { try target.replaceFile(part.name, with: part.bytes) }
            try target.replaceFile(SealLayout.signature, with: signature)
            // Files of an earlier signature of another kind would count as additions.
            let kept = [SealLayout.resources, SealLayout.codeDirectory, SealLayout.signature] + parts.map(\.name)
            try target.removeEntries(besides: Set(kept))
        }
        return (directory.codeDirectoryHash, directory.identifier)
    }
}

extension Descriptor {
    /// Replaces a file in this directory by rename(2): readers find the old content or the new.
    fileprivate borrowing func replaceFile(_ name: FileName, with bytes: [UInt8]) throws(SystemError) {
        let fresh = FileName(".\(name.text).new")!
        if try exists(fresh) { try removeTree(fresh) }
        let file = try open(fresh, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        try file.append(bytes)
        if try exists(name), try status(of: name).kind == .directory { try removeTree(name) }
        try rename(fresh, to: name, in: self)
    }

    /// Removes all entries but some.
    fileprivate borrowing func removeEntries(besides kept: Set<FileName>) throws(SystemError) {
        var others: [FileName] = []
        let reader = try entries()
        while let entry = try reader.next() {
            if !kept.contains(entry.name) { others.append(entry.name) }
        }
        for name in others { try removeTree(name) }
    }
}
