// The calls of the control API on a device. A call that is not `async` blocks until it is done; all may come from any
// thread.

public import AppContainer
public import ControlServer
public import SandboxModel

/// Takes news of long work, some of which reach the client.
/// - Returns: false when the client has gone: the work ends and takes back what it did.
public typealias ProgressReport = @Sendable (WorkProgress) -> Bool

public protocol ServedDevice: Sendable {
    func status() throws(Complaint) -> DeviceStatus
    func apps() throws(Complaint) -> [App]
    func events() throws(Complaint) -> [Event]
    /// What there is, and then each event as it comes.
    func followEvents() throws(Complaint) -> EventSubscription
    func unlock(passcode: String) throws(Complaint)
    func lock(_ request: LockRequest) async throws(Complaint)
    func restart() throws(Complaint)
    func passcode(_ request: PasscodeRequest) throws(Complaint)

    func install(_ request: InstallRequest, progress: @escaping ProgressReport) throws(Complaint) -> App
    func uninstall(_ request: UninstallRequest, progress: @escaping ProgressReport) throws(Complaint)
    func reset(_ request: ResetRequest, progress: @escaping ProgressReport) throws(Complaint)
    func entitle(_ request: EntitleRequest) throws(Complaint) -> App
    func deliver(_ request: DeliverRequest, progress: @escaping ProgressReport) throws(Complaint) -> [String]

    func mount(_ request: MountRequest) throws(Complaint) -> Mount
    func unmount(_ request: UnmountRequest) throws(Complaint)
    /// Calls back when the mount has ended; at once when there is none.
    func whenMountEnds(_ mountPoint: String, _ body: @escaping @Sendable () -> Void)

    func capacity(_ request: CapacityRequest) throws(Complaint) -> CapacityReport
    func purge(_ request: PurgeRequest, progress: @escaping ProgressReport) throws(Complaint) -> PurgeReport
    /// The app is marked running until the client disconnects, or what runs ends.
    func run(
        _ request: RunRequest, until client: ClientDisconnect, progress: @escaping ProgressReport
    ) throws(Complaint) -> RunnableApp
    func runProcess(_ request: RunProcessRequest) throws(Complaint)
    func runEnd(_ request: RunEndRequest) throws(Complaint)
    func markRunning(_ request: MarkRunningRequest) throws(Complaint)
    func terminate(_ request: TerminateRequest) throws(Complaint)

    func backUp(_ request: BackupRequest, progress: @escaping ProgressReport) throws(Complaint) -> BackupReport
    func listBackup(_ request: BackupListRequest) throws(Complaint) -> [BackupItem]
    func audit(_ request: AuditRequest, progress: @escaping ProgressReport) throws(Complaint) -> AuditReport
    func survey(_ request: SurveyRequest, progress: @escaping ProgressReport) throws(Complaint) -> Survey
    func restore(_ request: RestoreRequest, progress: @escaping ProgressReport) throws(Complaint) -> RestoreReport

    func inspect(_ request: InspectRequest) throws(Complaint) -> Inspection
    func check(_ request: CheckRequest, progress: @escaping ProgressReport) throws(Complaint) -> CheckReport

    /// Unmounts everything and ends the session. What fails is for the log: nothing keeps a device from ending.
    func shutdown()
}
