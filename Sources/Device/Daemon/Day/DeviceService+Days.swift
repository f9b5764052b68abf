// The handlers of requests about a device's days.

import AppContainer
import BackingStore
import BackupModel
import DeviceLifecycle
import Logging
import Platform
import SandboxModel

extension DeviceService {
    /// The requests about clock, surroundings and scheduled backups.
    static let dayRoutes: [Route<DeviceService>] = [.call(clock), .call(conditions), .call(schedule)]

    var hasScheduledBackups: Bool { days.plan.settings.backupDirectory != nil }

    /// Moves the device's clock where the request says so, and tells the time.
    /// - Throws: ``Complaint`` of kind `badRequest` or `shuttingDown`, or that of a scheduled backup that failed.
    func clock(_ request: ClockRequest) throws(Complaint) -> ClockReport {
        var happened: [Event] = []
        if request.real == true {
            defer { days.arrange() }
            try days.useRealClock()
            log.info("the clock is the host's")
        } else if let seconds = request.advance {
            defer { days.arrange() }
            happened = try days.advance(by: seconds)
            log.info("advanced the clock by \(seconds) seconds")
        }
        return ClockReport(
            time: EventTime.text(device.clock.now), ahead: Double(device.clock.ahead) / 1e9, happened: happened)
    }

    /// Changes the device's surroundings, and tells them.
    func conditions(_ request: ConditionsRequest) throws(Complaint) -> Conditions {
        if request.power != nil || request.wifi != nil {
            try operations.run { () throws(Complaint) in
                try days.change { day in
                    day.power = request.power ?? day.power
                    day.wifi = request.wifi ?? day.wifi
                }
            }
            days.arrange()
        }
        let settings = days.plan.settings
        return Conditions(power: settings.power ?? true, wifi: settings.wifi ?? true)
    }

    /// Begins or ends the daily backups, and tells when the next one is due.
    /// - Throws: ``Complaint`` of kind `notFound` for a directory that is not there, `badRequest` for one in the
    ///   device.
    func schedule(_ request: ScheduleRequest) throws(Complaint) -> BackupSchedule {
        if let directory = request.backup {
            try requireDirectory(directory)
            try requireOutside(directory + "/backup")
            let now = device.clock.now.nanoseconds
            try operations.run { () throws(Complaint) in
                try days.change { day in
                    day.backupDirectory = directory
                    day.lastBackup = now
                }
            }
            days.arrange()
            log.info("scheduled backups", metadata: ["to": "\(directory)"])
        } else if request.ends == true {
            try operations.run { () throws(Complaint) in
                try days.change { day in
                    day.backupDirectory = nil
                    day.lastBackup = nil
                }
            }
            log.info("no more scheduled backups")
        }
        let plan = days.plan
        return BackupSchedule(
            backup: plan.settings.backupDirectory,
            next: plan.nextBackup.map { EventTime.text(HostTime(nanoseconds: $0)) },
            missing: plan.nextBackup == nil ? [] : plan.missing.map(\.rawValue))
    }

    /// - Throws: ``Complaint`` of kind `notFound`.
    private func requireDirectory(_ path: String) throws(Complaint) {
        let kind = ActingUser.reaching(path) { try? HostPath.status(path).kind }
        guard kind == .directory else {
            throw Complaint(.notFound, "\(path) is no directory; make it first, and the backups will be in it")
        }
    }

    /// Writes a scheduled backup: a Finder backup of everything, which a locked device can make.
    /// - Throws: ``Complaint`` of kind `shuttingDown` when the device ends meanwhile, and others as
    ///   ``backUp(_:progress:)``.
    func makeScheduledBackup(_ path: String) throws(Complaint) {
        do throws(Complaint) {
            if let directory = HostPath.place(of: path)?.directory { try requireDirectory(directory) }
            _ = try backUp(BackupRequest(output: path, format: .finder), progress: { _ in true })
        } catch {
            guard operations.isEnding else { throw error }
            throw Complaint(.shuttingDown, "the device is shutting down; try again")
        }
    }
}
