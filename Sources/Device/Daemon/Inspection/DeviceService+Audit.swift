// The handlers of audits and surveys: requests that look through an app's containers.

import AppContainer
import BackingStore
import DeviceLifecycle
import Logging
import SandboxModel
import SandboxPolicy

extension DeviceService {
    /// Audits an app's containers against the data storage guidelines.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `badRequest` for a malformed pattern.
    func audit(_ request: AuditRequest, progress: @escaping ProgressReport) throws(Complaint) -> AuditReport {
        let app = try identifier(request.app)
        let patterns = try AuditPatterns(adding: request.patterns ?? "", from: "the patterns")
        let audit = try operations.run { () throws(Complaint) in
            // Lengths and attributes that the kernel still caches count as well.
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
            },
            groups: audit.groups.map { group in
                AuditReport.Group(
                    rule: group.rule.rawValue, severity: group.rule.isBreach ? .breach : .advice,
                    words: group.rule.words, domain: group.domain, path: group.path.text, findings: group.count,
                    size: group.bytes, names: group.names.map(\.text))
            })
    }

    /// Surveys an app's containers: size, class, backup and purging of each part.
    /// - Throws: ``Complaint`` of kind `unknownApp`.
    func survey(_ request: SurveyRequest, progress: @escaping ProgressReport) throws(Complaint) -> Survey {
        let app = try device.app(try identifier(request.app))
        let containers = try operations.run { () throws(Complaint) in
            mounts.writeOut()
            return try device.survey(app.identifier, openFile: { mounts.openFile(inode: $0) }) {
                report($0, "surveying", to: progress)
            }
        }
        return Survey(
            app: app.identifier.text, name: app.displayName, version: app.version, state: locking.deviceState.rawValue,
            readable: ProtectionClass.allCases.filter { device.deviceState.canOpen($0) }.map(\.foundationName),
            running: running.isRunning(app.identifier), available: device.context.space.figures.available,
            containers: containers.map { Survey.Node($0.part, name: $0.path) })
    }
}

extension Survey.Node {
    /// - Parameter name: in place of the part's own, for a whole container.
    fileprivate init(_ part: SurveyedPart, name: String? = nil) {
        self.init(
            name: name ?? part.name?.text ?? "", size: part.bytes, files: part.files,
            protection: part.look.protection?.foundationName,
            backup: part.look.isBackedUp ? .included : .excluded, purgeable: part.look.isPurgeable,
            children: part.parts?.map { Survey.Node($0) })
    }
}
