// The handlers of requests about mounts.

import AppContainer
import BackingStore
import ContainerMount
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// The requests about mounts.
    static let mountRoutes: [Route<DeviceService>] = [
        .call(mount), .call(unmount), .wait(waitForEndOfMount),
    ]

    /// Mounts an app, at the path that the request names or at one that the device makes.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `alreadyMounted`, `documentsNotShared`, `mountPoint` and others.
    func mount(_ request: MountRequest) throws(Complaint) -> Mount {
        let identifier = try identifier(request.app)
        var options = MountOptions()
        options.otherUsers = request.allowOther ?? false
        options.readOnly = request.readOnly ?? false
        options.onlyDocuments = request.documents ?? false
        options.cacheTags = request.cachedirTag ?? false
        options.transport = request.transport.map(TransportChoice.init)
        let mount = try operations.run(on: identifier) { () throws(Complaint) in
            let app = try device.app(identifier)
            if options.onlyDocuments, !app.sharesDocuments {
                throw Complaint(
                    .documentsNotShared,
                    "\(identifier) does not share its documents: its Info.plist has no UIFileSharingEnabled that is true"
                )
            }
            // Before the mount is visible, so that nothing is purged that its user sees.
            let hold = request.running == true ? running.hold(identifier, for: .mount) : nil
            do throws(Complaint) {
                let mount =
                    if let mountPoint = request.mountPoint {
                        try mounts.mount(app, at: mountPoint, options: options)
                    } else {
                        try mounts.mount(app, .toStay, options: options)
                    }
                if let hold { mounts.whenEnded(mount.mountPoint) { [running] in running.release(hold) } }
                return mount
            } catch {
                if let hold { running.release(hold) }
                throw error
            }
        }
        log.info("mounted \(identifier)", metadata: ["at": "\(mount.mountPoint)"])
        events.record(Event(.mounted, app: identifier.text, path: mount.mountPoint))
        return mount
    }

    /// Ends a mount. The event `unmounted` comes from the table of mounts, which also sees those that end from outside.
    /// - Throws: ``Complaint`` of kind `notMounted` or `inUse`.
    func unmount(_ request: UnmountRequest) throws(Complaint) {
        try operations.run { () throws(Complaint) in
            try mounts.unmount(request.mountPoint, lazy: request.lazy ?? false)
        }
    }

    /// Returns when the mount has ended; at once where there is none. Holds no thread.
    func waitForEndOfMount(_ request: MountEndRequest) async throws(Complaint) {
        await withCheckedContinuation { continuation in
            mounts.whenEnded(request.mountPoint) { continuation.resume() }
        }
    }
}

extension TransportChoice {
    fileprivate init(_ transport: MountRequest.Transport) {
        switch transport {
        case .auto: self = .automatic
        case .devFuse: self = .devFuse
        case .ioUring: self = .ioUring
        }
    }
}
