// The handlers of requests that exclude files from backups, include them again, and change their protection classes.

import AppContainer
import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension DeviceService {
    /// Excludes a file or directory from backups.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `badRequest`, `notFound`, `unsuitableFile` or `notAllowed`.
    func exclude(_ request: ExcludeRequest) throws(Complaint) {
        try mark(request.path, of: request.app, as: BackupMark.canonicalValue, doing: "exclude")
    }

    /// Removes the mark that excludes a file or directory.
    /// - Throws: as ``exclude(_:)``.
    func include(_ request: IncludeRequest) throws(Complaint) {
        try mark(request.path, of: request.app, as: nil, doing: "include")
    }

    private func mark(_ text: String, of name: String, as value: [UInt8]?, doing: String) throws(Complaint) {
        let app = try device.app(try identifier(name))
        let path = try homePath(text)
        try operations.run { () throws(Complaint) in
            do throws(Fault) {
                try mounts.change(attribute: BackupMark.attributeName, to: value, of: path, in: app)
            } catch {
                throw Complaint(error, doing: "cannot \(doing)", path)
            }
            changes.record(app: app.identifier, path: path.text)
        }
    }

    /// Gives a file a protection class, or a directory the class of what is created in it; with `recursive` what lies
    /// in it as well. Goes on after a failure, and ends with the first one; an entry that is gone meanwhile is none.
    /// - Throws: ``Complaint`` of kind `deviceLocked` where a key is missing, or as ``exclude(_:)``.
    func protect(_ request: ProtectRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try device.app(try identifier(request.app))
        let path = try homePath(request.path)
        try operations.run { () throws(Complaint) in
            var failure = protect(path, of: app, as: request.protection)
            if request.recursive ?? false, failure == nil {
                try eachEntry(below: path, of: app, progress) { entry in
                    let failed = protect(entry.path, of: app, as: request.protection)
                    if failed?.kind != .notFound { failure = failure ?? failed }
                }
            }
            if let failure { throw failure }
        }
    }

    /// - Returns: the failure; nil after success.
    private func protect(_ path: [FileName], of app: InstalledApp, as protection: String?) -> Complaint? {
        do throws(Fault) {
            try mounts.change(
                attribute: ProtectionClass.attributeName, to: protection.map { Array($0.utf8) }, of: path, in: app)
            changes.record(app: app.identifier, path: path.text)
            return nil
        } catch {
            guard error == .refused(.dataProtection) else { return Complaint(error, doing: "cannot protect", path) }
            return Complaint(
                .deviceLocked, "cannot protect \(path.text) while the device is locked; unlock it first")
        }
    }

    /// Calls `body` with each file and directory below a directory.
    private func eachEntry(
        below path: [FileName], of app: InstalledApp, _ progress: ProgressReport, _ body: (ListedNode) -> Void
    ) throws(Complaint) {
        var (after, seen) = ([FileName]?.none, Int64(0))
        while true {
            let order = ListingOrder(
                directory: path, isRecursive: true, after: after, limit: FilesRequest.usual)
            let listing: Listing
            do throws(Fault) {
                listing = try mounts.contents(order, of: app)
            } catch {
                // It is a file, and has no entries.
                if error == .system(.notDirectory) { return }
                throw Complaint(error, doing: "cannot list", path)
            }
            for entry in listing.entries where [.file, .directory].contains(entry.shown.kind) { body(entry) }
            seen += Int64(listing.entries.count)
            guard report(DeviceProgress(unit: .files, completed: seen, total: nil), "protecting", to: progress) else {
                throw Complaint.cancelled
            }
            guard !listing.isComplete, let last = listing.entries.last?.path else { return }
            after = last
        }
    }
}

extension Complaint {
    /// - Parameter doing: such as "cannot exclude".
    fileprivate init(_ fault: Fault, doing: String, _ path: [FileName]) {
        let message = "\(doing) \(path.isEmpty ? "the home" : path.text)"
        switch fault {
        case .system(.noEntry), .system(.notDirectory): self.init(.notFound, "\(message): it is not there")
        case .system(.notSupported):
            self.init(.unsuitableFile, "\(message): it is neither a file nor a directory, and keeps no attribute")
        case .refused(let rule): self.init(.notAllowed, "\(message): \(rule.words); instead, \(rule.instead)")
        default: self.init(.unexpected, "\(message): \(fault.words)")
        }
    }
}
