// Making an app ready to run.

import AppContainer
import BackingStore
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    func run(_ request: RunRequest, progress: @escaping ProgressReport) throws(Complaint) -> RunnableApp {
        let identifier = try identifier(request.app)
        return try operations.run(on: identifier) { () throws(Complaint) in
            let app = try device.app(identifier)
            let broken = try device.firstBreak(of: app, readingAll: request.verifyAll ?? false) {
                report($0, "verifying", to: progress)
            }
            if let broken {
                log.error("\(identifier) is not run: \(broken) is missing or invalid")
                note(
                    Event(
                        .refused, app: identifier.text, path: "\(app.bundleName.text)/\(broken)",
                        operation: request.detached == true ? "launch" : "run", rule: Rule.sealedBundle.rawValue))
                throw Complaint(
                    .sealBroken, "cannot run \(identifier): a sealed resource is missing or invalid: \(broken)")
            }
            let home = Homes.path(of: app.data.text, besides: socket)
            let mountPoint: String
            if let present = mounts.mountPoint(of: identifier) {
                mountPoint = present
            } else {
                try Homes.make(home)
                mountPoint = try mounts.mount(app, at: home, allowOther: false, readOnly: false).mountPoint
                log.info("mounted \(identifier) to run", metadata: ["at": "\(mountPoint)"])
                note(Event(.mounted, app: identifier.text, path: mountPoint))
            }
            return RunnableApp(
                mountPoint: mountPoint, isMountedToRun: mountPoint == home,
                executable: app.executable.map { "\(mountPoint)/\(app.bundleName.text)/\($0.text)" })
        }
    }
}
