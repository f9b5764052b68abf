// Which request of the control API is which call on the device.

import AppContainer
import ControlServer
import Logging
import Platform
import SandboxModel

extension ControlResponder {
    static func routes(
        device: any ServedDevice, queue: WorkQueue, log: Logger, shutdown: @escaping @Sendable () -> Void
    ) -> [String: Route] {
        var routes: [String: Route] = [:]

        func add<Request: ControlRequest>(
            _ type: Request.Type,
            _ call: @escaping @Sendable (Request, @escaping ProgressReport) throws(Complaint) -> Request.Reply
        ) {
            routes[Request.path] = Route(isQuery: Request.isQuery) { (body, lines) throws(Complaint) in
                let request = try ControlJSON.decode(type, from: body)
                if lines {
                    let work = WorkLines(on: queue) { (progress) throws(Complaint) in
                        do throws(Complaint) {
                            return try call(request, progress)
                        } catch {
                            log.refusal(ControlPath.root + Request.path, error)
                            throw error
                        }
                    }
                    return .lines(work)
                }
                let result = await queue.run { () -> Result<Request.Reply, Complaint> in
                    Result { () throws(Complaint) in try call(request) { _ in true } }
                }
                return .success(try result.get())
            }
        }

        add(StatusRequest.self) { (_, _) throws(Complaint) in try device.status() }
        add(AppsRequest.self) { (_, _) throws(Complaint) in try device.apps() }
        add(EventsRequest.self) { (_, _) throws(Complaint) in try device.events() }
        add(UnlockRequest.self) { (request, _) throws(Complaint) in
            try device.unlock(passcode: request.passcode)
            return Done()
        }
        add(RestartRequest.self) { (_, _) throws(Complaint) in
            try device.restart()
            return Done()
        }
        add(PasscodeRequest.self) { (request, _) throws(Complaint) in
            try device.passcode(request)
            return Done()
        }
        add(InstallRequest.self) { (request, progress) throws(Complaint) in
            try device.install(request, progress: progress)
        }
        add(UninstallRequest.self) { (request, progress) throws(Complaint) in
            try device.uninstall(request, progress: progress)
            return Done()
        }
        add(ResetRequest.self) { (request, progress) throws(Complaint) in
            try device.reset(request, progress: progress)
            return Done()
        }
        add(EntitleRequest.self) { (request, _) throws(Complaint) in try device.entitle(request) }
        add(DeliverRequest.self) { (request, progress) throws(Complaint) in
            try device.deliver(request, progress: progress)
        }
        add(MountRequest.self) { (request, _) throws(Complaint) in try device.mount(request) }
        add(UnmountRequest.self) { (request, _) throws(Complaint) in
            try device.unmount(request)
            return Done()
        }
        add(CapacityRequest.self) { (request, _) throws(Complaint) in try device.capacity(request) }
        add(PurgeRequest.self) { (request, progress) throws(Complaint) in
            try device.purge(request, progress: progress)
        }
        add(BackupRequest.self) { (request, progress) throws(Complaint) in
            try device.backUp(request, progress: progress)
        }
        add(BackupListRequest.self) { (request, _) throws(Complaint) in try device.listBackup(request) }
        add(AuditRequest.self) { (request, progress) throws(Complaint) in
            try device.audit(request, progress: progress)
        }
        add(SurveyRequest.self) { (request, progress) throws(Complaint) in
            try device.survey(request, progress: progress)
        }
        add(RestoreRequest.self) { (request, progress) throws(Complaint) in
            try device.restore(request, progress: progress)
        }
        add(InspectRequest.self) { (request, _) throws(Complaint) in try device.inspect(request) }
        add(CheckRequest.self) { (request, progress) throws(Complaint) in
            try device.check(request, progress: progress)
        }
        addRunning(to: &routes, device: device, queue: queue, log: log)
        add(RunProcessRequest.self) { (request, _) throws(Complaint) in
            try device.runProcess(request)
            return Done()
        }
        add(RunEndRequest.self) { (request, _) throws(Complaint) in
            try device.runEnd(request)
            return Done()
        }
        add(MarkRunningRequest.self) { (request, _) throws(Complaint) in
            try device.markRunning(request)
            return Done()
        }
        add(TerminateRequest.self) { (request, _) throws(Complaint) in
            try device.terminate(request)
            return Done()
        }
        routes[ShutdownRequest.path] = Route(isQuery: ShutdownRequest.isQuery) { (body, lines) throws(Complaint) in
            _ = try ControlJSON.decode(ShutdownRequest.self, from: body)
            await queue.run { shutdown() }
            return .success(Done(), lines: lines)
        }
        // Goes on for as long as the client is there.
        routes[ControlPath.followedEvents] = Route(isQuery: true) { (_, _, client) throws(Complaint) in
            let subscription = try device.followEvents()
            client.whenOccurred { [weak follower = subscription.follower] in follower?.end() }
            return .lines(EventLines(subscription: subscription))
        }
        routes[LockRequest.path] = Route(isQuery: LockRequest.isQuery) { (body, lines) throws(Complaint) in
            try await device.lock(try ControlJSON.decode(LockRequest.self, from: body))
            return .success(Done(), lines: lines)
        }
        // Waits without a thread.
        routes[MountEndRequest.path] = Route(isQuery: MountEndRequest.isQuery) { (body, lines) throws(Complaint) in
            let request = try ControlJSON.decode(MountEndRequest.self, from: body)
            await withCheckedContinuation { continuation in
                device.whenMountEnds(request.mountPoint) { continuation.resume() }
            }
            return .success(Done(), lines: lines)
        }
        return routes
    }

    /// The answer stays open: the app runs as long as somebody listens.
    private static func addRunning(
        to routes: inout [String: Route], device: any ServedDevice, queue: WorkQueue, log: Logger
    ) {
        routes[RunRequest.path] = Route(isQuery: RunRequest.isQuery) { (body, lines, client) throws(Complaint) in
            let request = try ControlJSON.decode(RunRequest.self, from: body)
            guard lines else {
                throw Complaint(
                    .badRequest,
                    "run: the app runs for as long as the answer is read, so ask for lines with the header "
                        + "Accept: \(ControlMedia.lines)")
            }
            let work = WorkLines(on: queue, until: client) { (progress) throws(Complaint) in
                do throws(Complaint) {
                    return try device.run(request, until: client, progress: progress)
                } catch {
                    log.refusal(ControlPath.root + RunRequest.path, error)
                    throw error
                }
            }
            return .lines(work)
        }
    }
}
