// The error of a command or a request, in words for people.

/// One line that says what was wrong and what to do, and the kind that decides the exit code and the HTTP status.
///
/// Complaints are errors of commands and of the control API. The error of a system call on the mount is a ``Fault``.
public struct Complaint: Error, Hashable, Sendable {
    /// The one enumeration of error kinds. `DeviceError.Kind` in `AppContainer` has a public constant for each case,
    /// with a description; the manual lists the exit codes, openapi.yaml the statuses.
    ///
    /// The raw value is that of the control API. Neither raw value nor exit code is ever reused.
    public enum Kind: String, CaseIterable, Sendable {
        case unexpected
        case deviceMissing
        case notADevice
        case newerFormat
        case hostFilesystem
        case deviceExists
        case deviceBusy
        case daemonUnreachable
        case mountPoint
        case alreadyMounted
        case unknownApp
        case invalidApp
        case invalidIdentifier
        case fuseMissing
        case fuseConfiguration
        case wrongPasscode
        case passcodeNeeded
        case groupMounted
        case inUse
        case noSpace
        case damaged
        case notAllowed
        case appExists
        case notMounted
        case notFound
        case badRequest
        case deviceLocked
        case shuttingDown
        case daemonEnded
        case noPasscode
        case passcodeDelayed
        case lockCancelled
        case passcodeExists
        case invalidPasscode
        case unsuitableFile
        case sealBroken
        case unsigned
        case invalidIdentity
        case fileExists
        case appRunning
        case notRunning
        case confinementMissing
        case documentsNotShared
        case notEnoughFreed
        case invalidBackup
        case newerBackup
        case wrongPassword
        case passwordNeeded
        case otherDevice
        case guidelinesBroken
        case foreignOwner
        case invalidEntitlements
        case anotherSigner
        case inexpressiblePath
        case deviceErased
        case undeclaredType
        case appSuspended
        case notSuspended
        case notFrozen
        case backupPasswordState
        case procMissing
        case invalidTemplate

        /// The exit code of the command; 64 is wrong usage, as sysexits.h has it.
        public var exitCode: Int32 {
            switch self {
            case .unexpected: 1
            case .deviceMissing: 3
            case .notADevice: 4
            case .newerFormat: 5
            case .hostFilesystem: 6
            case .deviceExists: 7
            case .deviceBusy: 8
            case .daemonUnreachable: 9
            case .mountPoint: 10
            case .alreadyMounted: 11
            case .unknownApp: 12
            case .invalidApp: 13
            case .invalidIdentifier: 14
            case .fuseMissing: 15
            case .fuseConfiguration: 16
            case .wrongPasscode: 17
            case .passcodeNeeded: 18
            case .groupMounted: 19
            case .inUse: 20
            case .noSpace: 21
            case .damaged: 22
            case .notAllowed: 23
            case .appExists: 24
            case .notMounted: 25
            case .notFound: 26
            case .badRequest: 27
            case .deviceLocked: 28
            case .shuttingDown: 29
            case .daemonEnded: 30
            case .noPasscode: 31
            case .passcodeDelayed: 32
            case .lockCancelled: 33
            case .passcodeExists: 34
            case .invalidPasscode: 35
            case .unsuitableFile: 36
            case .sealBroken: 37
            case .unsigned: 38
            case .invalidIdentity: 39
            case .fileExists: 40
            case .appRunning: 41
            case .notRunning: 42
            case .confinementMissing: 43
            case .documentsNotShared: 44
            case .notEnoughFreed: 45
            case .invalidBackup: 46
            case .newerBackup: 47
            case .wrongPassword: 48
            case .passwordNeeded: 49
            case .otherDevice: 50
            case .guidelinesBroken: 51
            case .foreignOwner: 52
            case .invalidEntitlements: 53
            case .anotherSigner: 54
            case .procMissing: 55
            case .inexpressiblePath: 56
            case .invalidTemplate: 57
            case .deviceErased: 58
            case .undeclaredType: 59
            case .appSuspended: 60
            case .notSuspended: 61
            case .notFrozen: 62
            case .backupPasswordState: 63
            }
        }
    }

    public let kind: Kind
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The error of long work that its progress callback has ended.
    public static let cancelled = Complaint(.unexpected, "cancelled; nothing was changed")
}
