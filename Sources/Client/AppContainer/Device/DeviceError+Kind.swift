// The kinds of errors, for programs to tell apart.
//
// The enumeration is `Complaint.Kind` in SandboxModel: it has the raw values and the exit codes. Here each of its cases
// has a public constant, which a test of Daemon holds to it, so that this library's interface exposes no other module.

package import SandboxModel

extension DeviceError {
    /// The reason of an error. The raw values are those of the control API. A kind never changes its meaning; a later
    /// version may have further ones, which this version decodes too.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        package init(_ kind: Complaint.Kind) {
            self.init(rawValue: kind.rawValue)
        }

        /// The kind as the enumeration has it; nil for a kind of this library, or of a newer device.
        package var known: Complaint.Kind? { Complaint.Kind(rawValue: rawValue) }

        // MARK: Reported by the device

        /// An error that no other kind describes.
        public static let unexpected = Kind(.unexpected)
        /// There is no device at the path.
        public static let deviceMissing = Kind(.deviceMissing)
        /// The path names something that is no device.
        public static let notADevice = Kind(.notADevice)
        /// The device was made by a newer version.
        public static let newerFormat = Kind(.newerFormat)
        /// The host's filesystem lacks a feature that a device needs.
        public static let hostFilesystem = Kind(.hostFilesystem)
        /// The path for the new device exists already.
        public static let deviceExists = Kind(.deviceExists)
        /// Another process serves or changes the device.
        public static let deviceBusy = Kind(.deviceBusy)
        /// Nobody listens at the control socket. Nothing was sent.
        public static let daemonUnreachable = Kind(.daemonUnreachable)
        /// The mount point cannot be used.
        public static let mountPoint = Kind(.mountPoint)
        /// The app is mounted already.
        public static let alreadyMounted = Kind(.alreadyMounted)
        /// The app is not installed.
        public static let unknownApp = Kind(.unknownApp)
        /// The bundle or archive to install is no app.
        public static let invalidApp = Kind(.invalidApp)
        /// An identifier or a name is malformed.
        public static let invalidIdentifier = Kind(.invalidIdentifier)
        /// This machine has no FUSE.
        public static let fuseMissing = Kind(.fuseMissing)
        /// The machine's settings of FUSE forbid the mount, or the transport that was asked for.
        public static let fuseConfiguration = Kind(.fuseConfiguration)
        /// The passcode is wrong.
        public static let wrongPasscode = Kind(.wrongPasscode)
        /// No passcode was given where one is needed.
        public static let passcodeNeeded = Kind(.passcodeNeeded)
        /// A mount of another app shows the group already.
        public static let groupMounted = Kind(.groupMounted)
        /// Something is in use that has to be free first.
        public static let inUse = Kind(.inUse)
        /// The host is full.
        public static let noSpace = Kind(.noSpace)
        /// A part of the device is missing or damaged.
        public static let damaged = Kind(.damaged)
        /// The user has no permission.
        public static let notAllowed = Kind(.notAllowed)
        /// An app with that identifier is installed already.
        public static let appExists = Kind(.appExists)
        /// The path is in no mount.
        public static let notMounted = Kind(.notMounted)
        /// A named file or path does not exist.
        public static let notFound = Kind(.notFound)
        /// The request is malformed, or its parameters contradict each other.
        public static let badRequest = Kind(.badRequest)
        /// The device is locked.
        public static let deviceLocked = Kind(.deviceLocked)
        /// The device is shutting down.
        public static let shuttingDown = Kind(.shuttingDown)
        /// The daemon ended before it answered. Whether it carried the request out is not known.
        public static let daemonEnded = Kind(.daemonEnded)
        /// The device has no passcode.
        public static let noPasscode = Kind(.noPasscode)
        /// After wrong passcodes the device accepts no other for a while.
        public static let passcodeDelayed = Kind(.passcodeDelayed)
        /// The device was unlocked during the grace period.
        public static let lockCancelled = Kind(.lockCancelled)
        /// The device has a passcode already.
        public static let passcodeExists = Kind(.passcodeExists)
        /// The new passcode or backup password is not acceptable.
        public static let invalidPasscode = Kind(.invalidPasscode)
        /// The file is of a kind that does not support the operation.
        public static let unsuitableFile = Kind(.unsuitableFile)
        /// A sealed resource is missing or invalid.
        public static let sealBroken = Kind(.sealBroken)
        /// The app has no signature, and one is required.
        public static let unsigned = Kind(.unsigned)
        /// A signing identity or certificate cannot be used.
        public static let invalidIdentity = Kind(.invalidIdentity)
        /// The path of the file to write exists already.
        public static let fileExists = Kind(.fileExists)
        /// The app is running.
        public static let appRunning = Kind(.appRunning)
        /// The app is not running.
        public static let notRunning = Kind(.notRunning)
        /// The program that confines is not installed.
        public static let confinementMissing = Kind(.confinementMissing)
        /// The app does not share its documents.
        public static let documentsNotShared = Kind(.documentsNotShared)
        /// A purge could not free as many bytes as were requested.
        public static let notEnoughFreed = Kind(.notEnoughFreed)
        /// The file to restore from is no backup, or a damaged one.
        public static let invalidBackup = Kind(.invalidBackup)
        /// The backup was made by a newer version.
        public static let newerBackup = Kind(.newerBackup)
        /// The password of the backup, or the backup password of the device, is wrong.
        public static let wrongPassword = Kind(.wrongPassword)
        /// The backup is encrypted, or has ciphertext of another device, and needs a password.
        public static let passwordNeeded = Kind(.passwordNeeded)
        /// The backup has files that only the device that made it can read.
        public static let otherDevice = Kind(.otherDevice)
        /// The container breaks the data storage guidelines.
        public static let guidelinesBroken = Kind(.guidelinesBroken)
        /// The device belongs to another user, whom nobody has named as trusted; or any user may put another device in
        /// its place.
        public static let foreignOwner = Kind(.foreignOwner)
        /// The app's entitlements disagree with each other, with the app or with its provisioning profile, or the
        /// device cannot act upon them.
        public static let invalidEntitlements = Kind(.invalidEntitlements)
        /// The app, or the group that it wants, is that of another signer.
        public static let anotherSigner = Kind(.anotherSigner)
        /// A path has bytes that the form of a list cannot express.
        public static let inexpressiblePath = Kind(.inexpressiblePath)
        /// Ten wrong passcodes have erased the device, which was set so.
        public static let deviceErased = Kind(.deviceErased)
        /// The app does not declare the type of a delivered file.
        public static let undeclaredType = Kind(.undeclaredType)
        /// The app is suspended, or about to be.
        public static let appSuspended = Kind(.appSuspended)
        /// The app is neither suspended nor in the background, or came to the foreground before it was suspended.
        public static let notSuspended = Kind(.notSuspended)
        /// A process of the app could not be frozen in time.
        public static let notFrozen = Kind(.notFrozen)
        /// The device has a backup password already, or has none to change or remove.
        public static let backupPasswordState = Kind(.backupPasswordState)
        /// The machine shows no /proc, which the device's process needs.
        public static let procMissing = Kind(.procMissing)
        /// The file is no template of a device, or was cut short or altered.
        public static let invalidTemplate = Kind(.invalidTemplate)

        // MARK: Reported by this library

        /// The program `appcontainer` is not where it was looked for.
        public static let programMissing = Kind(rawValue: "programMissing")
        /// The daemon that serves the device is of another version, and does not understand this one.
        public static let otherVersion = Kind(rawValue: "otherVersion")
        /// The task that waited for the answer was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")

        /// Every kind that a device reports, in the order of their exit codes.
        public static let all = Complaint.Kind.allCases.map { Kind($0) }
    }
}
