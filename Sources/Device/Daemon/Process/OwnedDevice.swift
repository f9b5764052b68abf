// A device that goes with its owner: made, served and deleted by one process, which the owner holds by its standard
// input. Where the owner is killed, the kernel lets go for it.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Platform
import SandboxModel

public enum OwnedDevice {
    /// Makes a device as the first line of standard input says, answers with a line of JSON on standard output, and
    /// serves the device until standard input ends. The device is deleted then.
    ///
    /// - Returns: the exit code.
    public static func run() async -> Int32 {
        // An order may be long in coming: harnesses start the process for the next device ahead.
        let setup = Result { () throws(Complaint) in try ProcessSetup() }
        CodableWarmUp.run()
        do throws(Complaint) {
            // Whoever let go before he said what he wants needs no answer.
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

    /// Starts the daemon of a device that is there already.
    private static func start(_ device: String) async throws(Complaint) {
        // Looks first: it says in the user's own words what is wrong with the path.
        _ = try DeviceDirectory.open(at: device)
        let path = try Complaint.wrap("cannot reach \(device)") { () throws(SystemError) in
            try HostPath.resolved(device)
        }
        var warnings: [String] = []
        let client = try await DaemonLauncher.connect(to: path) { warnings.append($0) }
        try answer(
            StartReport(
                pid: DaemonRecord(of: path)?.pid, socket: client.socket, warnings: warnings.isEmpty ? nil : warnings))
    }

    private static func own(_ order: DeviceOrder, on setup: ProcessSetup) async throws(Complaint) {
        if order.keep != true { Durability.waive() }
        let shutdown = ShutdownSignal()
        shutdown.watchSignals()
        var order = order
        try make(order)
        // What sockets, mounts and other commands go by.
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
        // Somebody may have removed it himself.
        if order.keep != true, (try? HostPath.status(order.device)) != nil { try served.device.device.delete() }
    }

    // MARK: Making

    /// - Returns: nil where standard input ends before it.
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

    private static func make(_ order: DeviceOrder) throws(Complaint) {
        if let template = order.clone { return try Device.clone(template, to: order.device, counting: false) }
        let settings = order.create ?? DeviceOrder.Settings()
        try Device.create(
            at: order.device, passcode: settings.passcode.map { Array($0.utf8) }, costLevel: settings.kdfCost,
            lockGrace: settings.lockGrace, capacity: settings.capacity)
    }

    /// Installs what a template is to have, and shuts it down.
    private static func prepare(_ order: DeviceOrder, _ setup: ProcessSetup) throws(Complaint) -> [App]? {
        setup.guardian?.dismiss()
        guard order.install != nil else { return nil }
        let device = try DeviceService.open(
            path: order.device, runtimeDirectory: setup.runtimeDirectory, guardian: nil)
        defer {
            device.shutdown()
            device.device.release()
        }
        return try install(order.install, on: device)
    }

    private static func install(_ requests: [InstallRequest]?, on device: DeviceService) throws(Complaint) -> [App]? {
        guard let requests else { return nil }
        var apps: [App] = []
        for request in requests { apps.append(try device.install(request) { _ in true }) }
        return apps
    }

    // MARK: The owner

    private static func watchOwner(_ shutdown: ShutdownSignal) throws(Complaint) {
        try Complaint.wrap("cannot watch the owner") { () throws(SystemError) in try shutdown.watchOwner() }
    }

    private static func answer(_ report: StartReport) throws(Complaint) {
        try Complaint.wrap("cannot write to standard output") { () throws(SystemError) in
            try Terminal.writeOutput(String(decoding: ControlJSON.line(report), as: UTF8.self))
        }
    }

    // MARK: The end

    /// Deletes a device that is not served, after the last of those who copy it.
    private static func delete(_ path: String) throws(Complaint) {
        // Gone already.
        guard let directory = try? DeviceDirectory.open(at: path) else { return }
        let turn = try directory.takeTurn()
        defer { withExtendedLifetime(turn) {} }
        try Device.delete(path)
    }
}
