// The part of the control API that the page may use, and the part of that which changes nothing.

import AppContainer
import FoundationEssentials
import SandboxModel

/// One operation of the control API, as the page may use it.
struct PageOperation: Sendable {
    /// The path below ``ControlPath/root``.
    let path: String
    let isQuery: Bool
    /// The body of a request that only looks; nil for one that may change something, or cannot be read. It is written
    /// anew from what was looked at here: a key that is there twice, for instance, is not another one's to choose from.
    let looking: @Sendable ([UInt8]) -> [UInt8]?

    /// By path. A request for any other path is not passed on.
    static let all: [String: PageOperation] = Dictionary(uniqueKeysWithValues: looking + changing)

    private static let looking: [(String, PageOperation)] = [
        query(StatusRequest.path), query(AppsRequest.path), query(EventsRequest.path), query(RulesRequest.path),
        query(ActivityRequest.path), query(ControlPath.followedEvents), query(ControlPath.followedChanges),
        call(FilesRequest.self) { _ in true }, call(InspectRequest.self) { _ in true },
        call(SurveyRequest.self) { _ in true }, call(AuditRequest.self) { _ in true },
        call(CheckRequest.self) { $0.repair != true },
        call(ClockRequest.self) { $0.advance == nil && $0.real != true },
        call(ConditionsRequest.self) { $0.power == nil && $0.wifi == nil },
        call(ScheduleRequest.self) { $0.backup == nil && $0.ends != true },
        call(CapacityRequest.self) {
            $0.capacity == nil && $0.hostCapacity != true && $0.lowWater == nil && $0.highWater == nil
        },
        call(PurgeRequest.self) { $0.dryRun == true },
    ]

    private static let changing: [(String, PageOperation)] = [
        call(LockRequest.self) { _ in false }, call(UnlockRequest.self) { _ in false },
        call(RestartRequest.self) { _ in false }, call(ExcludeRequest.self) { _ in false },
        call(IncludeRequest.self) { _ in false }, call(ProtectRequest.self) { _ in false },
        call(SuspendRequest.self) { _ in false }, call(ResumeRequest.self) { _ in false },
        call(TerminateRequest.self) { _ in false }, call(BackupRequest.self) { _ in false },
    ]

    private static func query(_ path: String) -> (String, PageOperation) {
        (path, PageOperation(path: path, isQuery: true, looking: { _ in [] }))
    }

    private static func call<Request: ControlRequest>(
        _ type: Request.Type, onlyLooks: @escaping @Sendable (Request) -> Bool
    ) -> (String, PageOperation) {
        let operation = PageOperation(path: Request.path, isQuery: Request.isQuery) { body in
            guard let request = try? JSONDecoder().decode(Request.self, from: Data(body)), onlyLooks(request) else {
                return nil
            }
            return (try? JSONEncoder().encode(request)).map { Array($0) }
        }
        return (Request.path, operation)
    }
}
