// The process `appcontainer own`: it makes, serves and deletes a device for its owner, which holds the other end of its
// standard input. The kernel closes that end when the owner is killed.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Platform
public import SandboxModel

/// Carries out one ``DeviceOrder``.
public enum OwnedDevice {
    /// Reads an order from the first line of standard input, makes the device, answers with a ``StartReport`` on
    /// standard output, and serves the device until standard input ends. Then it deletes the device.
    ///
    /// - Returns: the exit code.
    public static func run() async -> Int32 {
        // All that needs no order is done before it comes: harnesses start the process for the next device ahead.
        let setup = Result { () throws(Complaint) in try ProcessSetup() }
        CodableWarmUp.run()
        do throws(Complaint) {
            // An owner that closed standard input without an order needs no answer.
            guard let order = try readOrder() else { return 0 }
            if order.clone == nil && order.create == nil {
                try await start(order.device)
            } else {
                try await own(order, on: setup.get())
            }
            return 0
        } catch {
            try? answer(StartReport(complaint: DeviceError(error)))
            return error.kind.exitCode
        }
    }

    /// Answers an order with a complaint, whatever it is.
    /// - Returns: the exit code.
    public static func refuse(_ complaint: Complaint) -> Int32 {
        if (try? Terminal.readLine(silently: false)) != nil {
            try? answer(StartReport(complaint: DeviceError(complaint)))
        }
        return complaint.kind.exitCode
    }

    /// Starts the daemon of a device that exists.
    private static func start(_ device: String) async throws(Complaint) {
        // Opened first: its errors name the path as the order has it.
        _ = try DeviceDirectory.open(at: device)
        let path = try Complaint.wrap("cannot reach \(device)") { () throws(SystemError) in
            try HostPath.resolved(device)
        }
        var warnings: [String] = []
        let client = try await DaemonLauncher.connect(to: path) { warnings.append($0) }
        try answer(
            StartReport(
                pid: DaemonRecord(of: path)?.pid, socket: client.socket, identifier: client.identifier,
                warnings: warnings.isEmpty ? nil : warnings))
    }

    /// Makes the device of an order, and keeps it until the owner ends. On an error after that the device is deleted,
    /// whatever `keep` says.
    private static func own(_ order: DeviceOrder, on setup: ProcessSetup) async throws(Complaint) {
        // A device that goes with its owner survives no power cut anyway: nothing of it is synchronized.
        if order.keep != true { Durability.waive() }
        let shutdown = ShutdownSignal()
        shutdown.watchSignals()
        var order = order
        try make(order)
        // Sockets, mounts and other commands use the resolved path.
        order.device = (try? HostPath.resolved(order.device)) ?? order.device
        do throws(Complaint) {
            if order.template == true {
                try answer(StartReport(pid: getpid(), apps: try prepare(order, setup)))
                try watchOwner(shutdown)
                _ = await shutdown.reason()
                if order.keep != true { try delete(order.device) }
            } else {
                try await serve(order, on: setup, shutdown)
            }
        } catch {
            try? delete(order.device)
            throw error
        }
    }

    /// Serves the device until the owner ends, and deletes it.
    private static func serve(
        _ order: DeviceOrder, on setup: ProcessSetup, _ shutdown: ShutdownSignal
    ) async throws(Complaint) {
        var apps: [App]?
        let served = try await DaemonProcess.start(path: order.device, on: setup, shutdown: shutdown) {
            (device) throws(Complaint) in
            apps = try install(order.install, on: device)
        }
        do throws(Complaint) {
            var report = served.report
            report.apps = apps
            try answer(report)
            try watchOwner(shutdown)
        } catch {
            await served.end(error.message)
            try? served.device.device.delete()
            throw error
        }
        await served.end(await shutdown.reason())
        // The device may have been removed already.
        if order.keep != true, (try? HostPath.status(order.device)) != nil { try served.device.device.delete() }
    }

    // MARK: Making

    /// Reads and checks the order.
    /// - Returns: nil when standard input ends before it.
    /// - Throws: ``Complaint`` of kind `badRequest`.
    private static func readOrder() throws(Complaint) -> DeviceOrder? {
        let line = try Complaint.wrap("cannot read the order on standard input") { () throws(SystemError) in
            try Terminal.readLine(silently: false)
        }
        guard let line else { return nil }
        let order = try ControlJSON.object(
            DeviceOrder.self, from: line, called: "the order on standard input (appcontainer(1) tells what one has)",
            of: "own")
        guard order.clone == nil || order.create == nil else {
            throw Complaint(.badRequest, "own: an order has one of \"clone\" and \"create\", not both")
        }
        guard
            order.clone != nil || order.create != nil
                || order.install == nil && order.template == nil && order.keep == nil
        else {
            throw Complaint(
                .badRequest, "own: \"install\", \"template\" and \"keep\" need \"clone\" or \"create\"")
        }
        do throws(DeviceError) {
            try order.check()
        } catch {
            throw Complaint(error)
        }
        return order
    }

    /// Makes the device: a copy, or a new one.
    private static func make(_ order: DeviceOrder) throws(Complaint) {
        if let template = order.clone { return try StoredDevice.clone(template, to: order.device, counting: false) }
        let settings = order.create ?? DeviceOrder.Settings()
        try StoredDevice.create(
            at: order.device, passcode: settings.passcode.map { Array($0.utf8) },
            settings: DeviceSettings(
                keyDerivationCost: settings.kdfCost, lockGrace: settings.lockGrace, capacity: settings.capacity,
                capricious: settings.capricious.map { Capriciousness(seed: $0) }))
    }

    /// Installs the apps of a template, and shuts it down.
    private static func prepare(_ order: DeviceOrder, _ setup: ProcessSetup) throws(Complaint) -> [App]? {
        // A template is never mounted.
        setup.guardian?.dismiss()
        guard order.install != nil else { return nil }
        let device = try DeviceService.open(
            path: order.device, runtimeDirectory: setup.runtimeDirectory, transport: setup.transport, guardian: nil)
        defer {
            device.shutdown()
            device.device.release()
        }
        return try install(order.install, on: device)
    }

    /// - Returns: the apps in the order of the requests; nil where there are none.
    private static func install(_ requests: [InstallRequest]?, on device: DeviceService) throws(Complaint) -> [App]? {
        guard let requests else { return nil }
        var apps: [App] = []
        for request in requests { apps.append(try device.install(request) { _ in true }) }
        return apps
    }

    // MARK: The owner

    /// Requests the end when standard input ends.
    private static func watchOwner(_ shutdown: ShutdownSignal) throws(Complaint) {
        try Complaint.wrap("cannot watch the owner") { () throws(SystemError) in try shutdown.watchOwner() }
    }

    /// Writes the line that the owner waits for.
    private static func answer(_ report: StartReport) throws(Complaint) {
        try Complaint.wrap("cannot write to standard output") { () throws(SystemError) in
            try Terminal.writeOutput(String(decoding: ControlJSON.line(report), as: UTF8.self))
        }
    }

    // MARK: The end

    /// Deletes a device that is not served. Waits for processes that copy it.
    private static func delete(_ path: String) throws(Complaint) {
        // The device is gone already.
        guard let directory = try? DeviceDirectory.open(at: path) else { return }
        let turn = try directory.takeTurn()
        defer { withExtendedLifetime(turn) {} }
        try StoredDevice.delete(path)
    }
}
