// The handlers of requests about installed apps. Installing has a file of its own.

import AppContainer
import BackingStore
import DeviceLifecycle
import Logging
import SandboxModel

extension DeviceService {
    /// The requests about apps.
    static let appRoutes: [Route<DeviceService>] = [
        .call(apps), .work(install), .work(uninstall), .work(reset), .call(entitle), .work(deliver),
    ]

    /// The installed apps, with their mount points.
    func apps(_ request: AppsRequest) throws(Complaint) -> [App] {
        let mounts = mounts.all
        return device.apps.map { app in
            App(
                app, mountPoint: mounts.first { $0.app == app.identifier.text }?.mountPoint,
                running: running.isRunning(app.identifier))
        }
    }

    /// Removes an app that neither runs nor is mounted.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `appRunning` or `inUse`.
    func uninstall(_ request: UninstallRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        try operations.run(on: app) { () throws(Complaint) in
            try requireNotRunning(app, before: "uninstalled")
            try mounts.requireUnmounted(app, before: "uninstalled")
            try device.uninstall(app) { report($0, "removing", to: progress) }
        }
        log.info("uninstalled \(app)")
    }

    /// Empties the data container of an app that neither runs nor is mounted.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `appRunning` or `inUse`.
    func reset(_ request: ResetRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        try operations.run(on: app) { () throws(Complaint) in
            try requireNotRunning(app, before: "reset")
            try mounts.requireUnmounted(app, before: "reset")
            try device.reset(app) { report($0, "removing", to: progress) }
        }
        log.info("reset \(app)")
    }

    /// Adds containers to an app, on its mount too.
    /// - Returns: the app with all its containers.
    /// - Throws: ``Complaint`` of kind `unknownApp`, or `groupMounted` where another mount shows a container already.
    func entitle(_ request: EntitleRequest) throws(Complaint) -> App {
        let app = try identifier(request.app)
        let groups = try identifiers(request.groups)
        let iCloud = try identifiers(request.iCloud)
        return try operations.run(on: app) { () throws(Complaint) in
            try mounts.requireFree(groups: groups, iCloud: iCloud, for: app)
            let entitled = try device.entitle(app, groups: groups, iCloud: iCloud)
            try mounts.showAnew(entitled)
            log.info("entitled \(app)", metadata: ["to": "\((groups + iCloud).map(\.text))"])
            return App(entitled, mountPoint: mounts.mountPoint(of: app), running: running.isRunning(app))
        }
    }

    /// Puts files into an app's Inbox. The kernel looks at the Inbox anew, and each file is an event.
    /// - Returns: the paths in the app's home.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notFound`, `unsuitableFile` or `deviceLocked`.
    func deliver(_ request: DeliverRequest, progress: @escaping ProgressReport) throws(Complaint) -> [String] {
        let app = try identifier(request.app)
        return try operations.run(on: app) { () throws(Complaint) in
            let delivery = try device.deliver(request.files, to: app) { report($0, "delivering", to: progress) }
            mounts.noticeDelivery(delivery, to: app)
            log.info("delivered \(delivery.names.count) to \(app)")
            let paths = delivery.names.map { "Documents/Inbox/\($0.text)" }
            for path in paths { events.record(Event(.delivered, app: app.text, path: path)) }
            return paths
        }
    }
}
