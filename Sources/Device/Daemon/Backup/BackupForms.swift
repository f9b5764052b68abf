// The two formats of a backup, tar and Finder: the sink for a new one, the source of an existing one.

import AppContainer
import BackupModel
import FinderBackup
import Glibc
import Platform
import SandboxModel
import TarBackup

/// Chooses the format of a backup.
enum BackupForms {
    /// The sink for the format that a request names; tar by default.
    /// - Parameter keybag: the device's class keys under its backup password; nil without one.
    /// - Throws: ``Complaint`` of kind `fileExists`, `notFound` or `badRequest` when the output cannot be made.
    static func sink(
        for request: BackupRequest, of device: FinderBackupDevice, apps: [BackupApp], keybag: [UInt8]?
    ) throws(Complaint) -> any BackupSink {
        switch request.format ?? .tar {
        case .tar:
            return try TarBackupSink(path: request.output, apps: apps, keybag: keybag, since: request.since)
        case .finder:
            let encryption = request.password.map { FinderBackupSink.Encryption(password: Array($0.utf8)) }
            return try FinderBackupSink(
                path: request.output,
                of: FinderBackupOrigin(
                    apps: apps, device: device, keybag: keybag, date: HostTime.now.raw),
                encryption: encryption,
                since: request.since)
        }
    }

    /// The backup at a path: a directory is a Finder backup, a file a tar.
    /// - Parameter domain: the one container to read; all when nil.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidBackup`, `passwordNeeded` and others.
    static func source(
        for request: RestoreRequest, domain: BackupDomain?
    ) throws(Complaint) -> any BackupSource {
        let kind: FileStatus.Kind
        do throws(SystemError) {
            kind = try ActingUser.reaching(request.input) { () throws(SystemError) in
                try HostPath.status(request.input).kind
            }
        } catch {
            throw Complaint(.notFound, "cannot read the backup \(request.input): \(error.message)")
        }
        guard kind != .directory else {
            return try FinderBackupSource(
                path: request.input, password: request.password.map { Array($0.utf8) }, domains: domain.map { [$0] })
        }
        return try TarBackupSource(path: request.input) { domain == nil || $0 == domain }
    }
}
