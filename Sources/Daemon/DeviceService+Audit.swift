// Auditing an app's containers.

import AppContainer
import DeviceLifecycle
import Logging
import SandboxModel
import SandboxPolicy

extension DeviceService {
    func audit(_ request: AuditRequest, progress: @escaping ProgressReport) throws(Complaint) -> AuditReport {
        let app = try identifier(request.app)
        let patterns = try AuditPatterns(adding: request.patterns ?? "", from: "the patterns")
        let audit = try operations.run { () throws(Complaint) in
            mounts.writeOut()
            return try device.audit(app, patterns: patterns, openFile: { mounts.openFile(inode: $0) }) {
                report($0, "auditing", to: progress)
            }
        }
        return AuditReport(
            app: app.text, passed: audit.isPassed,
            directories: audit.shares.map { share in
                AuditReport.Directory(
                    domain: share.domain, path: share.path.text, files: share.files, size: share.bytes,
                    leftOut: share.leftOut)
            },
            findings: audit.findings.map { finding in
                AuditReport.Finding(
                    rule: finding.rule.rawValue, severity: finding.rule.isBreach ? .breach : .advice,
                    domain: finding.domain, path: finding.path.text, size: finding.bytes)
            })
    }
}
