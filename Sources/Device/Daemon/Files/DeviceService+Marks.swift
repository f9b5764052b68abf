// The handlers of requests that exclude files from backups, include them again, and change their protection classes.

import AppContainer
import BackingStore
import ContainerVolume
import DeviceLifecycle
import Platform
import SandboxModel

extension DeviceService {
    /// Excludes a file or directory from backups.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `badRequest`, `notFound`, `unsuitableFile`, `notAllowed`,
    ///   `damaged` or `inUse`.
    func exclude(_ request: ExcludeRequest) throws(Complaint) {
        let path = try homePath(request.path, request.pathBytes)
        try mark(path, of: request.app, as: BackupMark.canonicalValue, doing: "cannot exclude")
    }

    /// Removes the mark that excludes a file or directory.
    /// - Throws: as ``exclude(_:)``.
    func include(_ request: IncludeRequest) throws(Complaint) {
        let path = try homePath(request.path, request.pathBytes)
        try mark(path, of: request.app, as: nil, doing: "cannot include")
    }

    private func mark(
        _ path: [FileName], of name: String, as value: [UInt8]?, doing: String
    ) throws(Complaint) {
        let app = try identifier(name)
        // A call on the mount succeeds there, for copy programs, and changes nothing.
        if path == [try device.app(app).bundleName] {
            throw Complaint(.fault(.refused(.sealedBundle)), doing: doing, path)
        }
        try change(BackupMark.attributeName, to: value, of: path, in: app, doing: doing)
    }

    /// Gives a file a protection class, or a directory the class of what is created in it; with `recursive` what lies
    /// in it as well. Goes on after a failure, and ends with the first one; an entry that is gone meanwhile is none.
    /// - Throws: ``Complaint`` of kind `deviceLocked` where a key is missing, or as ``exclude(_:)``.
    func protect(_ request: ProtectRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        let path = try homePath(request.path, request.pathBytes)
        let value = request.protection.map { Array($0.utf8) }
        func protect(_ path: [FileName]) throws(Complaint) {
            try change(ProtectionClass.attributeName, to: value, of: path, in: app, doing: "cannot protect")
        }
        try operations.run { () throws(Complaint) in
            try protect(path)
            guard request.recursive ?? false else { return }
            var failure: Complaint?
            try eachEntry(below: path, of: app, progress) { entry in
                do throws(Complaint) {
                    try protect(entry.path)
                } catch {
                    if error.kind != .notFound { failure = failure ?? error }
                }
            }
            if let failure { throw failure }
        }
    }

    /// Sets or removes an attribute, and tells those who follow changes if that changed anything.
    /// - Parameter doing: the words before the path in a message.
    private func change(
        _ attribute: String, to value: [UInt8]?, of path: [FileName], in app: ContainerIdentifier, doing: String
    ) throws(Complaint) {
        let hasChanged = try whileSharersStay(of: path, in: app) { (app) throws(Complaint) in
            do throws(LookFailure) {
                return try mounts.change(attribute: attribute, to: value, of: path, in: app)
            } catch {
                throw Complaint(error, doing: doing, path)
            }
        }
        if hasChanged { changes.record(app: app, path: path.joined) }
    }

    /// Carries out an operation on each app whose home shows a path of an app's home: none of them is mounted,
    /// updated or removed meanwhile.
    private func whileSharersStay<Result>(
        of path: [FileName], in app: ContainerIdentifier, _ body: (InstalledApp) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        while true {
            let sharers = mounts.sharers(of: path, in: try device.app(app))
            let result = try operations.run(onEach: sharers[...]) { () throws(Complaint) -> Result? in
                let present = try device.app(app)
                // Another app may have got the container before the operations began.
                return mounts.sharers(of: path, in: present) == sharers ? try body(present) : nil
            }
            if let result { return result }
        }
    }

    /// Calls `body` with each file and directory below a directory.
    private func eachEntry(
        below path: [FileName], of app: ContainerIdentifier, _ progress: ProgressReport, _ body: (ListedNode) -> Void
    ) throws(Complaint) {
        var (after, seen) = ([FileName]?.none, Int64(0))
        while true {
            let order = ListingOrder(directory: path, isRecursive: true, after: after, limit: FilesRequest.usual)
            let present = try device.app(app)
            let listing: Listing
            do throws(LookFailure) {
                listing = try mounts.contents(order, of: present)
            } catch {
                // It is a file, and has no entries.
                if case .fault(.system(.notDirectory)) = error { return }
                throw Complaint(error, doing: "cannot list", path)
            }
            for entry in listing.entries where [.file, .directory].contains(entry.shown.kind) { body(entry) }
            seen += Int64(listing.entries.count)
            guard report(DeviceProgress(unit: .files, completed: seen, total: nil), "protecting", to: progress) else {
                throw Complaint.cancelled
            }
            guard !listing.isComplete else { return }
            after = listing.end
        }
    }
}
