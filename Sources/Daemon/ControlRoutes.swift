// Which request of the control API is which call on the device.

import AppContainer
import Logging
import SandboxModel

extension ControlHandler {
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
                    let work = WorkBody(on: queue) { (progress) throws(Complaint) in
                        do throws(Complaint) {
                            return try call(request, progress)
                        } catch {
                            log.refusal(ControlPath.root + Request.path, error)
                            throw error
                        }
                    }
                    return .work(work)
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
        add(LockRequest.self) { (request, _) throws(Complaint) in
            try device.lock(request)
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
        add(RunRequest.self) { (request, progress) throws(Complaint) in try device.run(request, progress: progress) }
        add(InspectRequest.self) { (request, _) throws(Complaint) in try device.inspect(request) }
        add(CheckRequest.self) { (request, progress) throws(Complaint) in
            try device.check(request, progress: progress)
        }
        routes[ShutdownRequest.path] = Route(isQuery: ShutdownRequest.isQuery) { (_, lines) throws(Complaint) in
            await queue.run { shutdown() }
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
}
