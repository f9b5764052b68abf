// One app's home at a mount point, as the rest of the daemon sees it.

import ContainerVolume
import FuseBridge
public import SandboxModel

public struct MountOptions: Sendable {
    /// May users other than the container's come in?
    public var otherUsers = false
    public var readOnly = false
    /// Is `Documents` all that is shown?
    public var onlyDocuments = false
    /// Do `Library/Caches` and `tmp` show a `CACHEDIR.TAG`?
    public var cacheTags = false

    public init() {}
}

public struct ActiveMount: Sendable {
    public let app: ContainerIdentifier
    /// Absolute, without symbolic links.
    public let mountPoint: String
    public let options: MountOptions
    /// Tells mounts apart that follow each other at one place.
    public let serial: UInt64
}

extension Complaint {
    init(_ failure: MountFailure) {
        let kind: Complaint.Kind =
            switch failure.kind {
            case .unavailable: .fuseMissing
            case .configuration: .fuseConfiguration
            case .mountPoint: .mountPoint
            case .busy: .inUse
            case .refused: .unexpected
            }
        self.init(kind, failure.message)
    }
}

/// Makes a failure of the bridge one of the daemon's.
func translatingFailure<Result>(_ body: () throws(MountFailure) -> Result) throws(Complaint) -> Result {
    do throws(MountFailure) {
        return try body()
    } catch {
        throw Complaint(error)
    }
}
