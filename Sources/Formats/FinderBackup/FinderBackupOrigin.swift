// The origin of a Finder backup: apps, device and time.

public import BackupModel
public import Glibc

/// The apps, the device and the time of a backup that is being written.
public struct FinderBackupOrigin: Sendable {
    public var apps: [BackupApp]
    public var device: FinderBackupDevice
    /// The device's class keys under its backup password, encoded; nil without one.
    var keybag: [UInt8]?
    /// Seconds since the beginning of 2001, as in property lists.
    let date: Double

    /// 2001-01-01 in seconds since 1970.
    private static let referenceDate = 978_307_200.0

    /// - Parameters:
    ///   - apps: the apps whose containers are in the backup.
    ///   - keybag: the device's class keys under its backup password, encoded; nil without one.
    ///   - date: the time of the backup, since 1970.
    public init(apps: [BackupApp], device: FinderBackupDevice, keybag: [UInt8]? = nil, date: timespec) {
        (self.apps, self.device, self.keybag) = (apps, device, keybag)
        self.date = Double(date.tv_sec) + Double(date.tv_nsec) / 1e9 - FinderBackupOrigin.referenceDate
    }
}

/// The device of a backup, as other tools show it.
public struct FinderBackupDevice: Hashable, Sendable {
    /// The name for people.
    public var name: String
    /// A unique device identifier; for a device of this project its UUID.
    public var identifier: String
    /// Whether it has a passcode.
    public var hasPasscode: Bool
    /// The version of iOS, by which tools choose a layout. The layout here is that of 10.2 and later.
    public var systemVersion: String

    public init(name: String, identifier: String, hasPasscode: Bool, systemVersion: String = "18.0") {
        self.name = name
        self.identifier = identifier
        self.hasPasscode = hasPasscode
        self.systemVersion = systemVersion
    }
}
