// The settings and the state of a device's days, in memory and in Device.json.

import BackingStore
import DeviceLifecycle
import Platform
import SandboxModel
import Synchronization

/// Guards the settings of a device's days.
///
/// Lock: `settings` is held while they are written, so that memory never has what could not be stored, and of two
/// changes neither is lost.
final class DayRecord: Sendable {
    private let device: BootedDevice
    private let settings: Mutex<DaySettings>
    /// When a device that was never looked through is: an item may be old already.
    private let firstCleaning: Int64

    init(_ device: BootedDevice) {
        self.device = device
        settings = Mutex(device.directory.settings.day ?? DaySettings())
        firstCleaning = device.clock.now.nanoseconds + DayPlan.hour
    }

    var current: DaySettings {
        var settings = settings.withLock { $0 }
        settings.nextCleaning = settings.nextCleaning ?? firstCleaning
        return settings
    }

    /// Changes the settings, durably. They are as before after an error.
    func change(_ body: (inout DaySettings) -> Void) throws(Complaint) {
        try settings.withLock { settings throws(Complaint) in
            var changed = settings
            body(&changed)
            try device.changeDay { $0 = changed }
            settings = changed
        }
    }

    /// Changes them until the next durable change: an advance of a year writes once.
    func remember(_ body: (inout DaySettings) -> Void) {
        settings.withLock { body(&$0) }
    }
}
