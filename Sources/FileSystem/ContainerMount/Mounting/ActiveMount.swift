// A mount as the rest of the daemon sees it, its options, and the conversion of mount failures.

import ContainerVolume
import FuseBridge
public import SandboxModel

/// The options of a mount.
public struct MountOptions: Sendable {
    /// `allow_other`: whether users other than the container's owner have access.
    public var otherUsers = false
    public var readOnly = false
    /// Whether the mount shows only `Documents`.
    public var onlyDocuments = false
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`.
    public var cacheTags = false
    /// The transport that is asked for; nil for the table's own choice.
    public var transport: TransportChoice?

    public init() {}
}

/// One app's home at a mount point.
public struct ActiveMount: Sendable {
    public let app: ContainerIdentifier
    /// Absolute, without symbolic links.
    public let mountPoint: String
    public let options: MountOptions
    public let transport: Transport
    /// Distinguishes successive mounts at one mount point.
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

/// Converts a failure of the bridge.
func translatingFailure<Result>(_ body: () throws(MountFailure) -> Result) throws(Complaint) -> Result {
    do throws(MountFailure) {
        return try body()
    } catch {
        throw Complaint(error)
    }
}
