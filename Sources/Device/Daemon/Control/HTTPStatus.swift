// The HTTP status of each kind of complaint.

import SandboxModel

extension Complaint.Kind {
    /// The closest HTTP status (RFC 9110, section 15). A switch without default: a new kind does not compile without
    /// one.
    var status: Int {
        switch self {
        case .badRequest, .invalidIdentifier, .mountPoint, .invalidApp, .invalidPasscode, .unsuitableFile,
            .inexpressiblePath, .sealBroken, .unsigned, .invalidIdentity, .invalidEntitlements, .invalidBackup,
            .invalidTemplate, .newerBackup:
            400
        case .wrongPasscode, .passcodeDelayed, .passcodeNeeded, .notAllowed, .deviceLocked, .documentsNotShared,
            .wrongPassword, .passwordNeeded, .foreignOwner, .deviceErased:
            403
        case .unknownApp, .notMounted, .notFound, .deviceMissing: 404
        case .deviceExists, .deviceBusy, .alreadyMounted, .groupMounted, .inUse, .appExists, .noPasscode,
            .passcodeExists, .lockCancelled, .fileExists, .appRunning, .notRunning, .otherDevice,
            .anotherSigner, .appSuspended, .notSuspended, .backupPasswordState:
            409
        case .undeclaredType: 415
        case .daemonUnreachable, .daemonEnded, .shuttingDown: 503
        case .noSpace, .notEnoughFreed: 507
        case .unexpected, .notADevice, .newerFormat, .hostFilesystem, .fuseMissing, .fuseConfiguration, .damaged,
            .confinementMissing, .guidelinesBroken, .notFrozen, .procMissing:
            500
        }
    }
}
