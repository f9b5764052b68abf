// Taking a bundle in: it is copied or unpacked into a container that is being staged, its seal is verified there, and
// the list of digests is written that it is read with from then on.

import BackingStore
import BundleArchive
public import BundleSeal
import DataProtection
import Glibc
import Platform
import SandboxModel

/// The requirements of an installation on an app's signature.
public struct SealDemands: Sendable {
    /// Whether an app without a signature is refused. Otherwise the device signs it.
    public var requiresSignature: Bool
    /// Certificates that the signer's has to be among, or be issued under; nil to accept any signer.
    public var trust: TrustedCertificates?
    /// Whether another signer may take the place of the installed app's.
    public var replacesSigner: Bool

    public init(
        requiresSignature: Bool = false, trust: TrustedCertificates? = nil, replacesSigner: Bool = false
    ) {
        self.requiresSignature = requiresSignature
        self.trust = trust
        self.replacesSigner = replacesSigner
    }
}

/// A bundle in the staging directory, on its way to be installed.
struct BundleIntake {
    /// The name of the `.app` directory.
    let name: FileName
    let information: BundleInformation
    /// The facts of the app's signature. Of the device's own until ``seal(key:identity:progress:)`` has read another.
    private(set) var signature = AppSignature(signer: .device)
    /// The app's extensions, read with its seal.
    private(set) var extensions: [StagedExtension] = []
    /// Remarks for the user.
    private(set) var notices: [String] = []
    /// The bundle's container.
    private let container: SharedDescriptor
    /// The bundle, in its container.
    private let root: SharedDescriptor
    /// As the user named it, for messages.
    private let path: String
    let demands: SealDemands
    /// The device's, by which profiles expire.
    private let clock: DeviceClock

    /// Copies or unpacks an app into its container.
    ///
    /// Flaws of a `.app` directory's seal that show without reading its content are found before the copy.
    /// - Parameters:
    ///   - clock: the device's.
    ///   - progress: bytes copied or unpacked; false cancels.
    ///   - admit: throws where an app of this identifier is not to be taken in. Called before the copy where the
    ///     identifier is known by then.
    init(
        _ path: String, into container: consuming Descriptor, demands: SealDemands, clock: DeviceClock,
        progress: (DeviceProgress) -> Bool, admit: (ContainerIdentifier) throws(Complaint) -> Void
    ) throws(Complaint) {
        self.path = path
        self.demands = demands
        self.clock = clock
        self.container = SharedDescriptor(container)
        if ActingUser.reaching(path, { try? HostPath.status(path) })?.kind == .file {
            name = try BundleIntake.unpack(path, into: self.container.descriptor, progress)
        } else {
            let source = try BundleSource.open(path)
            name = source.name
            try admit(source.information.identifier)
            try BundleIntake.inspect(source, demands, at: clock.now, progress)
            try BundleIntake.copy(source, to: self.container.descriptor, progress)
        }
        let (directory, name) = (self.container, name)
        root = try Complaint.wrap("cannot open what was copied of \(path)") { () throws(SystemError) in
            SharedDescriptor(try directory.descriptor.openDirectory(name))
        }
        information = try BundleInformation(of: root.descriptor, bundleName: name)
        try admit(information.identifier)
    }

    /// Refuses a bundle whose seal is broken, before it is copied.
    /// - Parameter progress: bytes read, and only where the seal is broken; false cancels.
    /// - Throws: ``Complaint`` of kind `sealBroken` or `unsigned`, or ``Complaint/cancelled``.
    private static func inspect(
        _ source: BundleSource, _ demands: SealDemands, at time: HostTime, _ progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        let isSigned = try Complaint.wrap("cannot look at \(source.path)") { () throws(SystemError) in
            try SealVerification.isSigned(source.root.descriptor)
        }
        guard isSigned else { return try requireNoSignature(source.name, demands) }
        var verification = try SealVerification(of: source.root, name: source.name, trust: demands.trust, at: time)
        guard !verification.report.isValid else { return }
        // It is refused in any case; its files are read to name the first path that is wrong.
        let total = verification.bytes
        var done: Int64 = 0
        let finished = try Complaint.wrap("cannot read \(source.path)") { () throws(SystemError) in
            try verification.finish { count in
                done += count
                return progress(DeviceProgress(unit: .bytes, completed: min(done, total), total: total))
            }
        }
        guard finished else { throw Complaint.cancelled }
        try requireWhole(verification.report, source.name)
    }

    /// - Throws: ``Complaint`` of kind `unsigned` where an app has to be signed.
    private static func requireNoSignature(_ name: FileName, _ demands: SealDemands) throws(Complaint) {
        guard demands.requiresSignature || demands.trust != nil else { return }
        throw Complaint(
            .unsigned, "\(name.text) is not signed; sign it with: appcontainer seal \(name.text) --identity PATH")
    }

    /// - Throws: ``Complaint`` of kind `sealBroken`.
    private static func requireWhole(_ report: SealReport, _ name: FileName) throws(Complaint) {
        guard let first = report.breaks.first else { return }
        let flaw: String
        switch first.kind {
        case .changed: flaw = "was changed since"
        case .missing: flaw = "is missing"
        case .added: flaw = "was added since"
        case .signature: flaw = "has a signature that does not hold"
        case .untrusted:
            throw Complaint(
                .sealBroken,
                "the signer of \(name.text) is not trusted: \(first.path) (\(first.kind.rawValue)); "
                    + "nothing was installed")
        }
        throw Complaint(
            .sealBroken,
            "the seal of \(name.text) is broken: \(first.path) \(flaw) (\(first.kind.rawValue)); nothing was installed")
    }

    /// The facts of a signature that holds.
    /// - Throws: ``Complaint`` of kind `invalidEntitlements`; `unsigned` where an app has to be signed, and nobody has.
    private static func signature(
        _ report: SealReport, _ name: FileName, _ demands: SealDemands
    ) throws(Complaint) -> AppSignature {
        if let flaw = report.entitlementFlaw {
            throw Complaint(.invalidEntitlements, "\(name.text) cannot be installed: \(flaw)")
        }
        guard let signature = report.signature else { throw Complaint(.invalidApp, "\(name.text) has no Info.plist") }
        guard signature.signer != .nobody || !demands.requiresSignature else {
            throw Complaint(
                .unsigned,
                "\(name.text) is signed ad hoc, which names nobody; sign it with: appcontainer seal \(name.text) "
                    + "--identity PATH")
        }
        return signature
    }

    // MARK: Copying and unpacking

    /// - Returns: the name of the app in the archive.
    /// - Throws: ``Complaint`` of kind `notFound` or `invalidApp`.
    private static func unpack(
        _ path: String, into container: borrowing Descriptor, _ progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> FileName {
        var unpacked: Int64 = 0
        do throws(ArchiveFault) {
            let name = try AppArchive.unpack(path, into: container) { count in
                unpacked += count
                return progress(DeviceProgress(unit: .bytes, completed: unpacked, total: nil))
            }
            // Without a name the progress callback has ended it.
            if let name {
                guard AppDirectory.isAppName(name) else {
                    throw ArchiveFault.refused("has an app whose name cannot be shown")
                }
                return name
            }
        } catch {
            switch error {
            case .missing: throw Complaint(.notFound, "\(path) does not exist; name an app's directory or archive")
            case .refused(let reason): throw Complaint(.invalidApp, "\(path) \(reason)")
            case .host(let error): throw Complaint(error, doing: "cannot unpack \(path)")
            }
        }
        throw Complaint.cancelled
    }

    /// - Throws: ``Complaint/cancelled``.
    private static func copy(
        _ source: BundleSource, to container: borrowing Descriptor, _ progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        var copied: Int64 = 0
        let finished = try Complaint.wrap("cannot copy \(source.path)") { () throws(SystemError) in
            try source.copy(to: container) { count in
                copied += count
                return progress(
                    DeviceProgress(unit: .bytes, completed: min(copied, source.size), total: source.size))
            }
        }
        guard finished else { throw Complaint.cancelled }
    }

    // MARK: Sealing and verifying

    /// Verifies the seal of the copy, or seals it, and writes the list of digests.
    /// - Parameter identity: the device's own, for an app without a signature.
    /// - Throws: ``Complaint`` of kind `sealBroken`, `unsigned`, `invalidApp` or `anotherSigner` for an extension.
    mutating func seal(
        key: BundleKey, identity: () throws(Complaint) -> SigningIdentity, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) {
        let doing = "cannot install \(name.text)"
        let root = self.root
        let isSigned = try Complaint.wrap(doing) { () throws(SystemError) in
            try SealVerification.isSigned(root.descriptor)
        }
        if !isSigned {
            try BundleIntake.requireNoSignature(name, demands)
            try sign(with: try identity(), progress)
            notices.append("\(name.text) was not signed; the device has signed it with its own identity")
        }
        var verification: SealVerification? =
            isSigned ? try SealVerification(of: root, name: name, trust: demands.trust, at: clock.now) : nil
        let tree = try Complaint.wrap(doing) { () throws(SystemError) in
            if let known = verification?.tree { return known }
            return try BundleTree(of: root)
        }
        let trees = HashTrees(of: tree)
        // Bytes are hashed for the hash trees and, in the same pass, for the seal: they count twice then.
        let total = trees.bytes + (verification?.bytes ?? 0)
        var done: Int64 = 0
        let container = self.container
        let finished = try Complaint.wrap(doing) { () throws(SystemError) in
            try BundleDigests.write(trees, verifying: &verification, in: container.descriptor, key: key) { count in
                done += count
                return progress(DeviceProgress(unit: .bytes, completed: min(done, total), total: total))
            }
        }
        guard finished else { throw Complaint.cancelled }
        if let report = verification?.report {
            try BundleIntake.requireWhole(report, name)
            signature = try BundleIntake.signature(report, name, demands)
            // Such as an expired certificate: the app is installed all the same.
            notices += report.warnings.map { "\(name.text): \($0)" }
        }
        extensions = try BundleExtensions(
            of: root, name: name, information, signature, report: verification?.report
        ).read()
    }

    /// Signs the copy. Directories that their own user may not write to are opened for that time.
    private func sign(with identity: SigningIdentity, _ progress: (DeviceProgress) -> Bool) throws(Complaint) {
        let (root, container, name) = (self.root, self.container, self.name)
        let doing = "cannot seal \(name.text)"
        let (before, mode) = try Complaint.wrap(doing) { () throws(SystemError) in
            let before = try BundleTree(of: root)
            let mode = try root.descriptor.status().permissions
            try container.descriptor.changeMode(of: name, to: mode | S_IRWXU)
            try before.changeDirectories { $0 | S_IRWXU }
            return (before, mode)
        }
        var sealed: Int64 = 0
        let total = before.entries.reduce(Int64(0)) { $0 + ($1.status.kind == .file ? $1.status.size : 0) }
        let finished = try BundleSealer(identity: identity).seal(root, name: name) { count in
            sealed += count
            return progress(DeviceProgress(unit: .bytes, completed: min(sealed, total), total: total))
        }
        guard finished else { throw Complaint.cancelled }
        try Complaint.wrap(doing) { () throws(SystemError) in
            try before.changeDirectories { $0 }
            try container.descriptor.changeMode(of: name, to: mode)
        }
    }
}

extension BundleTree {
    /// Gives each directory below the bundle's own a mode that is computed from the one in the tree.
    fileprivate func changeDirectories(_ mode: (mode_t) -> mode_t) throws(SystemError) {
        for entry in entries.reversed() where entry.status.kind == .directory {
            let permissions = entry.status.permissions
            guard mode(permissions) != permissions || permissions & S_IRWXU != S_IRWXU else { continue }
            try root.descriptor.openDirectory(at: entry.path.dropLast())
                .changeMode(of: entry.path[entry.path.count - 1], to: mode(permissions))
        }
    }
}
