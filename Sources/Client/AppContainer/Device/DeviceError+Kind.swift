// The kinds of errors, for programs to tell apart.

extension DeviceError {
    /// What was wrong. The raw values are those of the control API. A kind never changes its meaning; a later version may
    /// know further ones.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        // MARK: Told by the device

        /// What no other kind is for.
        public static let unexpected = Kind(rawValue: "unexpected")
        /// There is no device at the path.
        public static let deviceMissing = Kind(rawValue: "deviceMissing")
        /// What is at the path is no device.
        public static let notADevice = Kind(rawValue: "notADevice")
        /// The device was made by a newer version.
        public static let newerFormat = Kind(rawValue: "newerFormat")
        /// The host's filesystem lacks what a device needs.
        public static let hostFilesystem = Kind(rawValue: "hostFilesystem")
        /// There is something already where the device was to be made.
        public static let deviceExists = Kind(rawValue: "deviceExists")
        /// Another process serves or changes the device.
        public static let deviceBusy = Kind(rawValue: "deviceBusy")
        /// Nobody listens at the control socket. Nothing was sent.
        public static let daemonUnreachable = Kind(rawValue: "daemonUnreachable")
        /// The mount point is none.
        public static let mountPoint = Kind(rawValue: "mountPoint")
        /// The app is mounted already.
        public static let alreadyMounted = Kind(rawValue: "alreadyMounted")
        /// The app is not installed.
        public static let unknownApp = Kind(rawValue: "unknownApp")
        /// What was to be installed is no app.
        public static let invalidApp = Kind(rawValue: "invalidApp")
        /// An identifier or a name is not one.
        public static let invalidIdentifier = Kind(rawValue: "invalidIdentifier")
        /// There is no FUSE on this machine.
        public static let fuseMissing = Kind(rawValue: "fuseMissing")
        /// The machine's settings forbid what was asked of FUSE.
        public static let fuseConfiguration = Kind(rawValue: "fuseConfiguration")
        /// The passcode was another.
        public static let wrongPasscode = Kind(rawValue: "wrongPasscode")
        /// No passcode was given where one is needed.
        public static let passcodeNeeded = Kind(rawValue: "passcodeNeeded")
        /// A mount of another app shows the group already.
        public static let groupMounted = Kind(rawValue: "groupMounted")
        /// Something is in use that has to be free first.
        public static let inUse = Kind(rawValue: "inUse")
        /// The host is full.
        public static let noSpace = Kind(rawValue: "noSpace")
        /// A part of the device is missing or damaged.
        public static let damaged = Kind(rawValue: "damaged")
        /// The user may not do that.
        public static let notAllowed = Kind(rawValue: "notAllowed")
        /// An app of that identifier is there already.
        public static let appExists = Kind(rawValue: "appExists")
        /// The path is in no mount.
        public static let notMounted = Kind(rawValue: "notMounted")
        /// A file or a path that was named is not there.
        public static let notFound = Kind(rawValue: "notFound")
        /// The request says what it must not.
        public static let badRequest = Kind(rawValue: "badRequest")
        /// The device is locked.
        public static let deviceLocked = Kind(rawValue: "deviceLocked")
        /// The device is shutting down.
        public static let shuttingDown = Kind(rawValue: "shuttingDown")
        /// The daemon ended before it answered; whether it did what it was asked is not known.
        public static let daemonEnded = Kind(rawValue: "daemonEnded")
        /// The device has no passcode.
        public static let noPasscode = Kind(rawValue: "noPasscode")
        /// After wrong passcodes there is a wait.
        public static let passcodeDelayed = Kind(rawValue: "passcodeDelayed")
        /// The device was unlocked during the grace period.
        public static let lockCancelled = Kind(rawValue: "lockCancelled")
        /// The device has a passcode already.
        public static let passcodeExists = Kind(rawValue: "passcodeExists")
        /// That can be no passcode.
        public static let invalidPasscode = Kind(rawValue: "invalidPasscode")
        /// A file is of a kind that this cannot be done to.
        public static let unsuitableFile = Kind(rawValue: "unsuitableFile")
        /// A sealed resource is missing or invalid.
        public static let sealBroken = Kind(rawValue: "sealBroken")
        /// The app is not signed, and has to be.
        public static let unsigned = Kind(rawValue: "unsigned")
        /// A signing identity or certificate is none.
        public static let invalidIdentity = Kind(rawValue: "invalidIdentity")
        /// There is something already where a file was to be written.
        public static let fileExists = Kind(rawValue: "fileExists")
        /// The app is running.
        public static let appRunning = Kind(rawValue: "appRunning")
        /// The app is not running.
        public static let notRunning = Kind(rawValue: "notRunning")
        /// The program that confines is not installed.
        public static let confinementMissing = Kind(rawValue: "confinementMissing")
        /// The app does not share its documents.
        public static let documentsNotShared = Kind(rawValue: "documentsNotShared")
        /// A purge could not free as much as it was asked for.
        public static let notEnoughFreed = Kind(rawValue: "notEnoughFreed")
        /// What was to be restored is no backup, or a damaged one.
        public static let invalidBackup = Kind(rawValue: "invalidBackup")
        /// The backup was made by a newer version.
        public static let newerBackup = Kind(rawValue: "newerBackup")
        /// The password of the backup was another.
        public static let wrongPassword = Kind(rawValue: "wrongPassword")
        /// The backup needs a password.
        public static let passwordNeeded = Kind(rawValue: "passwordNeeded")
        /// The backup has what only the device that made it can read.
        public static let otherDevice = Kind(rawValue: "otherDevice")
        /// The container breaks the data storage guidelines.
        public static let guidelinesBroken = Kind(rawValue: "guidelinesBroken")

        // MARK: Told by this library

        /// The program `appcontainer` is not where it was looked for.
        public static let programMissing = Kind(rawValue: "programMissing")
        /// The daemon that serves the device is of another version, and does not understand this one.
        public static let otherVersion = Kind(rawValue: "otherVersion")
        /// The task that waited for the answer was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")

        /// Every kind that a device tells, in the order of their exit codes.
        public static let all: [Kind] = [
            .unexpected, .deviceMissing, .notADevice, .newerFormat, .hostFilesystem, .deviceExists, .deviceBusy,
            .daemonUnreachable, .mountPoint, .alreadyMounted, .unknownApp, .invalidApp, .invalidIdentifier,
            .fuseMissing, .fuseConfiguration, .wrongPasscode, .passcodeNeeded, .groupMounted, .inUse, .noSpace,
            .damaged, .notAllowed, .appExists, .notMounted, .notFound, .badRequest, .deviceLocked, .shuttingDown,
            .daemonEnded, .noPasscode, .passcodeDelayed, .lockCancelled, .passcodeExists, .invalidPasscode,
            .unsuitableFile, .sealBroken, .unsigned, .invalidIdentity, .fileExists, .appRunning, .notRunning,
            .confinementMissing, .documentsNotShared, .notEnoughFreed, .invalidBackup, .newerBackup, .wrongPassword,
            .passwordNeeded, .otherDevice, .guidelinesBroken,
        ]
    }
}
