// Taking an app in: its bundle is copied or unpacked beside the containers, and its seal is looked at. No lock is held
// meanwhile, so that a large app keeps nobody waiting; which app it is comes out only here.

public import BackingStore
import BundleSeal
import Platform
public import SandboxModel

/// An app that lies ready in the staging directory: what is left is to name it.
public final class StagedApp: Sendable {
    let container: ContainerUUID
    let bundleName: FileName
    let information: BundleInformation
    /// What the user should know of how the app was taken in.
    public let notices: [String]

    fileprivate init(_ container: ContainerUUID, _ intake: BundleIntake) {
        self.container = container
        bundleName = intake.name
        information = intake.information
        notices = intake.notices
    }

    public var identifier: ContainerIdentifier { information.identifier }
}

extension Device {
    /// Takes an app in: a `.app` directory or an `.ipa`. To be followed by ``discard(_:)``, whether it was installed or
    /// not.
    ///
    /// - Parameters:
    ///   - admit: asked about the app's identifier, before anything is copied where that can be told; what it throws
    ///     ends the matter.
    ///   - progress: bytes copied, then bytes hashed.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidApp`, `invalidIdentifier`, `sealBroken`, `unsigned`,
    ///   `noSpace`.
    public func stage(
        _ path: String, demands: SealDemands = SealDemands(),
        admit: (ContainerIdentifier) throws(Complaint) -> Void = { _ in },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> StagedApp {
        let container = ContainerUUID()
        stagingUse.keep(container)
        do throws(Complaint) {
            let directory = try Complaint.wrap("cannot copy \(path)") { () throws(SystemError) in
                var staged = StagedContainers(self.directory)
                return try staged.make(.bundle, container, owner: .current)
            }
            var intake = try BundleIntake(
                path, into: directory, demands: demands, progress: progress, admit: admit)
            reached(.stagedBundle)
            let key = try bundleKey(of: container)
            try intake.seal(
                key: key,
                // One at a time: the first makes it.
                identity: { () throws(Complaint) in
                    try changing { (_) throws(Complaint) in try identity() }
                }, progress: progress)
            reached(.sealedBundle)
            return StagedApp(container, intake)
        } catch {
            discard(container)
            throw error
        }
    }

    /// Removes what was staged and is not installed.
    public func discard(_ app: StagedApp) {
        discard(app.container)
    }

    private func discard(_ container: ContainerUUID) {
        // What cannot be removed now is removed at the next boot.
        _ = try? directory.staging().removeTree(container.fileName)
        stagingUse.letGo(of: container)
    }
}
