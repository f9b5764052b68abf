// The registry's view of an app, as the control API shows it.

public import AppContainer
public import BackingStore
import BundleSeal
import DeviceLifecycle
import SandboxModel

extension App {
    public init(_ app: InstalledApp, mountPoint: String?, running: Bool = false) {
        self.init(
            identifier: app.identifier.text, name: app.displayName, bundle: app.bundleName.text,
            version: app.version.isEmpty ? nil : app.version, container: app.data.text,
            groups: app.groups.map(\.identifier.text), iCloud: app.iCloud.map(\.identifier.text), owner: app.owner,
            mountPoint: mountPoint, running: running)
    }
}

extension SealDemands {
    /// - Throws: ``Complaint`` of kind `invalidIdentity`.
    init(_ request: InstallRequest) throws(Complaint) {
        self.init(requiresSignature: request.requireSigned ?? false)
        guard let pem = request.trust else { return }
        do throws(SealFault) {
            trust = try TrustedCertificates(pem: Array(pem.utf8))
        } catch {
            throw Complaint(.invalidIdentity, "the trusted certificate cannot be used: \(error.reason)")
        }
    }
}

extension WorkProgress {
    public init(activity: String, _ progress: DeviceProgress) {
        let unit: Unit =
            switch progress.unit {
            case .bytes: .bytes
            case .files: .files
            }
        self.init(activity: activity, unit: unit, done: progress.completed, total: progress.total)
    }
}

extension CheckReport.Problem {
    init(_ problem: DeviceCheck.Problem) {
        self.init(container: problem.container, path: problem.path, message: problem.message)
    }
}
