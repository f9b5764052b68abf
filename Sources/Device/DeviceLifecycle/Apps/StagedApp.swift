// Taking an app in: its bundle is copied or unpacked beside the containers, and its seal is verified. No lock is held
// meanwhile, so that a large app keeps no other operation waiting. The app's identifier is known for sure only here.

public import BackingStore
import BundleSeal
import Platform
public import SandboxModel

/// An app that lies ready in the staging directory, with its seal verified. To install it, it gets a place and is
/// registered.
public final class StagedApp: Sendable {
    /// The container of the bundle.
    let container: ContainerUUID
    let bundleName: FileName
    let information: BundleInformation
    let signature: AppSignature
    /// Its extensions, in the order of their names.
    public let extensions: [StagedExtension]
    /// Whether another signer may take the place of the installed app's.
    let replacesSigner: Bool
    /// Remarks for the user, such as that the device has signed the app.
    public let notices: [String]

    fileprivate init(_ container: ContainerUUID, _ intake: BundleIntake) {
        self.container = container
        bundleName = intake.name
        information = intake.information
        signature = intake.signature
        extensions = intake.extensions
        replacesSigner = intake.demands.replacesSigner
        notices = intake.notices
    }

    public var identifier: ContainerIdentifier { information.identifier }
    /// The groups that its signature entitles it to. They were checked when the app was taken in.
    public var groups: [ContainerIdentifier] { (try? signature.entitlements.groups) ?? [] }
    /// The iCloud containers that its signature entitles it to.
    public var iCloud: [ContainerIdentifier] { (try? signature.entitlements.iCloudContainers) ?? [] }
}

extension BootedDevice {
    /// Takes an app in: a `.app` directory or an `.ipa`. To be followed by ``discard(_:)``, whether it was installed or
    /// not.
    ///
    /// - Parameters:
    ///   - admit: gets the app's identifier, before anything is copied where the identifier is known by then; what it
    ///     throws ends the call.
    ///   - progress: bytes copied, then bytes hashed.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidApp`, `invalidIdentifier`, `sealBroken`, `unsigned`,
    ///   `invalidEntitlements`, `noSpace`.
    public func stage(
        _ path: String, demands: SealDemands = SealDemands(),
        admit: (ContainerIdentifier) throws(Complaint) -> Void = { _ in },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> StagedApp {
        let container = ContainerUUID()
        // Before the directory is made, or a removal that runs now would take it for a leftover.
        staging.keep(container)
        do throws(Complaint) {
            let directory = try Complaint.wrap("cannot copy \(path)") { () throws(SystemError) in
                var staged = StagedContainers(self.directory)
                return try staged.make(.bundle, container, owner: .current)
            }
            var intake = try BundleIntake(
                path, into: directory, demands: demands, clock: clock, progress: progress, admit: admit)
            reached(.stagedBundle)
            let key = try bundles.key(of: container)
            try intake.seal(
                key: key,
                // One at a time: the first makes it.
                identity: { () throws(Complaint) in
                    try installedApps.changing { (_) throws(Complaint) in try bundles.identity() }
                }, progress: progress)
            reached(.sealedBundle)
            return StagedApp(container, intake)
        } catch {
            discard(container)
            throw error
        }
    }

    /// Removes an app from the staging directory, unless it was installed.
    public func discard(_ app: StagedApp) {
        discard(app.container)
    }

    /// Removes the bundle, and lets others remove its name. After an installation there is nothing under the name.
    private func discard(_ container: ContainerUUID) {
        staging.remove(container.fileName)
        staging.release(container)
    }
}
