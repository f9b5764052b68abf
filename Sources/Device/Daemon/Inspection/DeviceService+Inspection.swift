// The requests that look at a path, an app or the device, and the handler of the check of the whole device.

import AppContainer
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// The requests that look at a path, an app or the device.
    static let inspectionRoutes: [Route<DeviceService>] = [
        .call(inspect), .work(survey), .work(audit), .work(check),
    ]

    /// Checks every stored file of the device, and logs each problem. Files that a mount has open are read through it.
    func check(_ request: CheckRequest, progress: @escaping ProgressReport) throws(Complaint) -> CheckReport {
        let found = try operations.run { () throws(Complaint) in
            try device.check(repair: request.repair ?? false, openFile: { mounts.openFile(inode: $0) }) {
                report($0, "checking", to: progress)
            }
        }
        let problems = found.problems.map(CheckReport.Problem.init)
        for problem in problems { log.error("check: \(problem.container)/\(problem.path): \(problem.message)") }
        return CheckReport(
            files: found.files, unreadable: found.unreadable, problems: problems,
            repaired: found.repaired.map(CheckReport.Problem.init))
    }
}

extension CheckReport.Problem {
    fileprivate init(_ problem: DeviceCheck.Problem) {
        self.init(container: problem.container, path: problem.path, message: problem.message)
    }
}
