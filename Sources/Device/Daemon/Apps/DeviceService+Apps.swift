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
        App.all(in: device.registry, use: uses())
    }

    /// An app with its extensions, as it is listed.
    func listed(_ app: InstalledApp) -> App { App(app, in: device.registry, use: uses()) }

    /// The mounts and running apps as of now.
    private func uses() -> (InstalledApp) -> App.Use {
        let mounts = mounts.all
        return { [running, lifecycle] app in
            (
                mounts.first { $0.app == app.identifier.text }?.mountPoint, running.isRunning(app.identifier),
                lifecycle.appState(of: app.identifier)
            )
        }
    }

    /// Removes an app with its extensions, none of which runs or is mounted.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `appRunning` or `inUse`.
    func uninstall(_ request: UninstallRequest, progress: @escaping ProgressReport) throws(Complaint) {
        let app = try identifier(request.app)
        try onFamily(of: app) { (family) throws(Complaint) in
            for app in family {
                try requireNotRunning(app, before: "uninstalled")
                try mounts.requireUnmounted(app, before: "uninstalled")
            }
            try device.uninstall(app) { report($0, "removing", to: progress) }
        }
        changes.record(app: app)
        log.info("uninstalled \(app)")
    }

    /// Carries out an operation on an app and each of its extensions.
    /// - Parameters:
    ///   - further: identifiers that an installation is going to give to extensions.
    ///   - body: gets the app first, and then every extension.
    func onFamily<Result>(
        of app: ContainerIdentifier, and further: [ContainerIdentifier] = [],
        _ body: ([ContainerIdentifier]) throws(Complaint) -> Result
    ) throws(Complaint) -> Result {
        try operations.run(on: app) { () throws(Complaint) in
            // With an operation on the app, its extensions stay.
            let parts = Set(device.registry.extensions(of: app).map(\.identifier)).union(further).subtracting([app])
            let sorted = parts.sorted()
            return try operations.run(onEach: sorted[...]) { () throws(Complaint) in try body([app] + sorted) }
        }
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
        changes.record(app: app)
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
            changes.record(app: app)
            log.info("entitled \(app)", metadata: ["to": "\((groups + iCloud).map(\.text))"])
            return listed(entitled)
        }
    }

    /// Puts files into an app's Inbox. The kernel looks at the Inbox anew, and each file is an event.
    /// - Returns: the paths in the app's home.
    /// - Throws: ``Complaint`` of kind `unknownApp`, `notFound`, `unsuitableFile`, `undeclaredType` or
    ///   `deviceLocked`.
    func deliver(_ request: DeliverRequest, progress: @escaping ProgressReport) throws(Complaint) -> [String] {
        let app = try identifier(request.app)
        return try operations.run(on: app) { () throws(Complaint) in
            let delivery = try device.deliver(request.files, to: app, anyType: request.anyType ?? false) {
                report($0, "delivering", to: progress)
            }
            mounts.noticeDelivery(delivery, to: app)
            log.info("delivered \(delivery.names.count) to \(app)")
            let paths = delivery.names.map { "Documents/Inbox/\($0.text)" }
            for path in paths { events.record(Event(.delivered, app: app.text, path: path)) }
            return paths
        }
    }
}
