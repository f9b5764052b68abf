// The handler of a request to install or update an app.

import AppContainer
import BackingStore
import BundleSeal
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// Installs or updates an app. The new bundle is copied and verified with no operation on an app; only the change
    /// of the registry excludes other work on it.
    /// - Throws: ``Complaint`` of kind `invalidApp`, `sealBroken`, `unsigned`, `invalidEntitlements`,
    ///   `anotherSigner`, `appRunning`, `groupMounted` and others.
    func install(_ request: InstallRequest, progress: @escaping ProgressReport) throws(Complaint) -> App {
        let groups = try identifiers(request.groups)
        let iCloud = try identifiers(request.iCloud)
        let owner = request.owner.map { ContainerOwner(user: $0, group: request.ownerGroup ?? $0) }
        let demands = try SealDemands(request)
        let terminates = request.terminate ?? false
        let (app, notices, isUpdate) = try operations.run { () throws(Complaint) in
            // The bundle tells which app it is. The installed one can be used meanwhile.
            let staged = try device.stage(
                request.app, demands: demands,
                admit: { (app) throws(Complaint) in
                    try device.requireOwner(owner, of: app)
                    if !terminates { try requireNotRunning(app) }
                }, progress: { report($0, "installing", to: progress) })
            defer { device.discard(staged) }
            let (app, isUpdate) = try whileNotRunning(staged, terminating: terminates) {
                (family) throws(Complaint) in
                let isUpdate = device.apps.contains { $0.identifier == staged.identifier }
                // Their mount points have the names of old data containers.
                for app in family { mounts.endMountToRun(app) }
                try mounts.requireFree(
                    groups: groups + staged.groups, iCloud: iCloud + staged.iCloud, for: staged.identifier)
                try requireFree(staged.extensions, among: family.dropFirst())
                let app = try device.install(
                    staged, groups: groups, iCloud: iCloud, owner: owner
                ) { (update) throws(Complaint) in try mounts.presenter(of: update) }
                return (app, isUpdate)
            }
            return (app, staged.notices, isUpdate)
        }
        log.info("\(isUpdate ? "updated" : "installed") \(app.identifier)", metadata: ["container": "\(app.data)"])
        events.record(Event(.installed, app: app.identifier.text))
        for notice in notices { log.notice("\(notice)") }
        var answer = listed(app)
        answer.notices = notices
        return answer
    }

    /// Checks that no mount is in the way of an app's extensions as they are to be.
    /// - Parameter family: their identifiers, and those of extensions that the app has now.
    /// - Throws: ``Complaint`` of kind `groupMounted`, or `inUse` for a mounted extension that the new app lacks.
    private func requireFree(
        _ extensions: [StagedExtension], among family: ArraySlice<ContainerIdentifier>
    ) throws(Complaint) {
        for app in family {
            guard let part = extensions.first(where: { $0.identifier == app }) else {
                try mounts.requireUnmounted(app, before: "removed with this update")
                continue
            }
            try mounts.requireFree(groups: part.groups, iCloud: part.iCloud, for: app)
        }
    }

    /// Carries out an operation on an app and its extensions, none of which runs, and keeps them from starting
    /// meanwhile.
    /// - Parameters:
    ///   - terminates: whether a running app is ended first, in up to three attempts.
    ///   - body: gets the identifiers of the app and of all extensions that it has or will have.
    /// - Throws: ``Complaint`` of kind `appRunning`.
    private func whileNotRunning<Result>(
        _ staged: StagedApp, terminating terminates: Bool, _ body: ([ContainerIdentifier]) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        let app = staged.identifier
        var attempts = terminates ? 3 : 0
        while true {
            let result = try onFamily(of: app, and: staged.extensions.map(\.identifier)) {
                (family) throws(Complaint) -> Result? in
                if attempts > 0, family.contains(where: isStillRunning) { return nil }
                for app in family { try requireNotRunning(app) }
                return try body(family)
            }
            if let result { return result }
            // Outside of the operation: the end of a run begins one of its own.
            do throws(Complaint) {
                try terminate(app)
            } catch {
                // The app has ended by itself.
                guard error.kind == .notRunning else { throw error }
            }
            // Somebody may start the app again and again; the last attempt throws `appRunning`.
            attempts -= 1
        }
    }

    /// - Throws: ``Complaint`` of kind `appRunning`, with words for an installation.
    private func requireNotRunning(_ app: ContainerIdentifier) throws(Complaint) {
        guard isStillRunning(app) else { return }
        throw Complaint(
            .appRunning,
            "\(app) is running; end it with: appcontainer terminate \(device.directory.path) \(app), or install with "
                + "--terminate")
    }
}

extension SealDemands {
    /// The demands of a request on the seal of a bundle.
    /// - Throws: ``Complaint`` of kind `invalidIdentity` for a certificate that is none.
    fileprivate init(_ request: InstallRequest) throws(Complaint) {
        self.init(
            requiresSignature: request.requireSigned ?? false, replacesSigner: request.replaceSigner ?? false)
        guard let pem = request.trust else { return }
        do throws(SealFault) {
            trust = try TrustedCertificates(pem: Array(pem.utf8))
        } catch {
            throw Complaint(.invalidIdentity, "the trusted certificate cannot be used: \(error.reason)")
        }
    }
}
