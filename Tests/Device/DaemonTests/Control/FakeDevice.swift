// A device without a disk: it records the calls that reach it, and has fixed answers.

import AppContainer
import ControlServer
import Logging
import SandboxModel
import Synchronization
import TestSupport

@testable import Daemon

final class FakeDevice: ServedDevice {
    let identifier = "ID"
    let hasScheduledBackups = false
    let calls = Mutex<[String]>([])
    /// Of whoever has asked to run something.
    let clients = Mutex<[ClientDisconnect]>([])
    /// Reports that the last long operation made before it was told to stop.
    let reports = Awaited(0)
    let wasCancelled = Awaited(false)
    /// Locks that wait.
    let waiting = Awaited(0)

    private func record(_ call: String) {
        calls.withLock { $0.append(call) }
    }

    static let routes: [Route<FakeDevice>] = [
        .call(status), .wait(lock), .call(unlock), .call(restart), .call(passcode),
        .call(apps), .work(install), .work(uninstall), .work(reset), .call(entitle), .work(deliver),
        .call(mount), .call(unmount), .wait(waitForEndOfMount),
        .lease(run), .call(runProcess), .call(runEnd), .call(markRunning), .call(terminate),
        .call(capacity), .work(purge), .work(backUp), .call(listBackup), .call(backupExcluded), .work(restore),
        .call(inspect), .work(survey), .work(audit), .work(check),
        .call(recordedEvents), .follow(followEvents),
    ]

    static let app = App(
        identifier: "com.example.Notes", name: "Notes", bundle: "Notes.app", version: "1.0",
        container: "0C9B2F4E-1111-4222-8333-444455556666", groups: [], iCloud: [], owner: 501, mountPoint: nil)

    func status(_ request: StatusRequest) throws(Complaint) -> DeviceStatus {
        record("status")
        return DeviceStatus(
            state: "unlocked", device: "/device", identifier: "ID", hasPasscode: false, apps: 1,
            daemon: DaemonStatus(pid: 1, socket: "/socket"), mounts: [])
    }

    func apps(_ request: AppsRequest) throws(Complaint) -> [App] { [FakeDevice.app] }
    func recordedEvents(_ request: EventsRequest) throws(Complaint) -> [Event] { [] }

    /// Whose events are followed.
    let events = Mutex<EventLog?>(nil)

    func followEvents() throws(Complaint) -> EventSubscription {
        guard let subscription = try? events.withLock({ $0 })?.follow() else {
            throw Complaint(.unexpected, "there is no record")
        }
        return subscription
    }

    func unlock(_ request: UnlockRequest) throws(Complaint) {
        guard request.passcode == "1234" else { throw Complaint(.wrongPasscode, "wrong passcode") }
    }

    /// A lock with a grace period waits until its client has gone.
    func lock(_ request: LockRequest) async throws(Complaint) {
        record("lock")
        guard request.now == false else { return }
        waiting.change { $0 += 1 }
        try? await Task.sleep(for: .seconds(600))
        waiting.change { $0 -= 1 }
    }

    func restart(_ request: RestartRequest) throws(Complaint) { record("restart") }

    func passcode(_ request: PasscodeRequest) throws(Complaint) {
        record("passcode \(request.action.rawValue)")
    }

    func install(_ request: InstallRequest, progress: @escaping ProgressReport) throws(Complaint) -> App {
        record("install \(request.app)")
        for step in 0..<3 {
            _ = progress(WorkProgress(activity: "installing", unit: .bytes, done: Int64(step), total: 3))
        }
        guard request.app != "/missing" else { throw Complaint(.notFound, "there is no /missing") }
        return FakeDevice.app
    }

    func uninstall(_ request: UninstallRequest, progress: @escaping ProgressReport) throws(Complaint) {
        throw Complaint(.inUse, "\(request.app) is mounted")
    }

    func reset(_ request: ResetRequest, progress: @escaping ProgressReport) throws(Complaint) {}
    func entitle(_ request: EntitleRequest) throws(Complaint) -> App { FakeDevice.app }

    func run(
        _ request: RunRequest, until client: ClientDisconnect, progress: @escaping ProgressReport
    ) throws(Complaint) -> RunnableApp {
        record("run \(request.app)")
        clients.withLock { $0.append(client) }
        client.whenOccurred { [self] in record("departed") }
        return RunnableApp(
            identifier: request.app, mountPoint: "/mnt", isMountedToRun: false, executable: nil, lease: 7)
    }

    func runProcess(_ request: RunProcessRequest) throws(Complaint) { record("process \(request.pid)") }
    func runEnd(_ request: RunEndRequest) throws(Complaint) { record("end \(request.lease)") }
    func markRunning(_ request: MarkRunningRequest) throws(Complaint) { record("mark \(request.app)") }

    func terminate(_ request: TerminateRequest) throws(Complaint) {
        throw Complaint(.notRunning, "\(request.app) is not running")
    }

    func deliver(_ request: DeliverRequest, progress: @escaping ProgressReport) throws(Complaint) -> [String] {
        request.files
    }

    func mount(_ request: MountRequest) throws(Complaint) -> Mount {
        Mount(
            app: request.app, mountPoint: request.mountPoint ?? "/chosen", readOnly: request.readOnly ?? false,
            allowOther: request.allowOther ?? false, transport: request.transport == .ioUring ? .ioUring : .devFuse)
    }

    func unmount(_ request: UnmountRequest) throws(Complaint) {
        throw Complaint(.notMounted, "nothing is mounted at \(request.mountPoint)")
    }

    func waitForEndOfMount(_ request: MountEndRequest) async throws(Complaint) {}

    func capacity(_ request: CapacityRequest) throws(Complaint) -> CapacityReport {
        record("capacity")
        return CapacityReport(
            capacity: request.capacity, total: 0, used: 0, free: 0, available: 0, reserve: 0, lowWater: 5, highWater: 10
        )
    }

    func purge(_ request: PurgeRequest, progress: @escaping ProgressReport) throws(Complaint) -> PurgeReport {
        PurgeReport(purged: [], skipped: [], freed: 0, available: 0, target: request.free)
    }

    func inspect(_ request: InspectRequest) throws(Complaint) -> Inspection { throw Complaint(.unknownApp, "none") }

    /// Goes on until its client has gone.
    func backUp(_ request: BackupRequest, progress: @escaping ProgressReport) throws(Complaint) -> BackupReport {
        BackupReport(files: 0, bytes: 0, unchanged: 0, sealed: 0)
    }

    func listBackup(_ request: BackupListRequest) throws(Complaint) -> [BackupItem] { [] }

    func backupExcluded(_ request: BackupExcludedRequest) throws(Complaint) -> [ExcludedHome] { [] }

    func audit(_ request: AuditRequest, progress: @escaping ProgressReport) throws(Complaint) -> AuditReport {
        AuditReport(app: request.app, passed: true, directories: [], findings: [], groups: [])
    }

    func survey(_ request: SurveyRequest, progress: @escaping ProgressReport) throws(Complaint) -> Survey {
        throw Complaint(.unknownApp, "none")
    }

    func restore(_ request: RestoreRequest, progress: @escaping ProgressReport) throws(Complaint) -> RestoreReport {
        RestoreReport(apps: [], waiting: [], groups: [], files: 0, bytes: 0, leftOut: 0)
    }

    func check(_ request: CheckRequest, progress: @escaping ProgressReport) throws(Complaint) -> CheckReport {
        let deadline = ContinuousClock.now + .seconds(60)
        while progress(WorkProgress(activity: "checking", unit: .files, done: 0, total: nil)) {
            reports.change { $0 += 1 }
            guard ContinuousClock.now < deadline else { throw Complaint(.unexpected, "nobody ended this") }
        }
        wasCancelled.change { $0 = true }
        return CheckReport(files: 0, unreadable: 0, problems: [], repaired: [])
    }

    func shutdown() {
        record("shutdown")
        events.withLock { $0 }?.end()
    }
}
