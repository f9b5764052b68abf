// The two forms that a backup has: which one is made, and which one is at hand.

import AppContainer
import BackupModel
import FinderBackup
import Glibc
import Platform
import SandboxModel
import TarBackup

enum BackupForms {
    /// What is made where a request asks for it.
    static func sink(
        for request: BackupRequest, of device: FinderBackupDevice, apps: [BackupApp]
    ) throws(Complaint) -> any BackupSink {
        switch request.format ?? .tar {
        case .tar:
            guard request.password == nil else {
                throw Complaint(.badRequest, "a tar is not encrypted; leave the password out, or make a Finder backup")
            }
            return try TarBackupSink(path: request.output, apps: apps, since: request.since)
        case .finder:
            let encryption = request.password.map { FinderBackupSink.Encryption(password: Array($0.utf8)) }
            return try FinderBackupSink(
                path: request.output, apps: apps, device: device, date: HostTime.now.raw, encryption: encryption,
                since: request.since)
        }
    }

    /// What a request names: a directory is a Finder backup, and a file a tar.
    /// - Throws: ``Complaint`` of kind `notFound` where there is nothing.
    static func source(
        for request: RestoreRequest, domain: BackupDomain?
    ) throws(Complaint) -> any BackupSource {
        let kind: FileStatus.Kind
        do throws(SystemError) {
            kind = try HostPath.status(request.input).kind
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
