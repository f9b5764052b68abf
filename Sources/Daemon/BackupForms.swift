import AppContainer
import BackupModel
import SandboxModel

enum BackupForms {
    static func write<Result>(
        _ request: BackupRequest, apps: [BackupApp], _ body: (inout any BackupSink) throws(Complaint) -> Result
    ) throws(Complaint) -> Result { throw Complaint(.unexpected, "no form") }

    static func read<Result>(
        _ request: RestoreRequest, domain: BackupDomain?, _ body: (inout any BackupSource) throws(Complaint) -> Result
    ) throws(Complaint) -> Result { throw Complaint(.unexpected, "no form") }
}
