// Requests about mounts: made, ended, waited for.

/// Mounts an app's home.
public struct MountRequest: ControlRequest {
    public typealias Reply = Mount
    public static let path = "mount"

    /// The way by which the kernel's requests are to reach the device's process.
    public enum Transport: String, Codable, CaseIterable, Sendable {
        /// FUSE over io_uring where the kernel offers it, otherwise /dev/fuse.
        case auto
        /// read(2) and write(2) of /dev/fuse.
        case devFuse = "dev-fuse"
        /// FUSE over io_uring, or the mount fails.
        case ioUring = "io-uring"
    }

    public var app: String
    /// An absolute path. When null, the device makes a directory and removes it again; as on a phone, it is named after
    /// the container.
    public var mountPoint: String?
    /// Whether other users may enter the mount. False when null.
    public var allowOther: Bool?
    /// Whether nothing may be written. False when null.
    public var readOnly: Bool?
    /// Whether the app is marked running for as long as it is mounted. False when null.
    public var running: Bool?
    /// Whether only `Documents` is shown, as file sharing does. False when null.
    public var documents: Bool?
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`, for backup tools. False when null.
    public var cachedirTag: Bool?
    /// When null, what `APPCONTAINER_TRANSPORT` named when the device's process started, else `auto`.
    public var transport: Transport?

    public init(
        app: String, mountPoint: String? = nil, allowOther: Bool = false, readOnly: Bool = false, running: Bool = false,
        documents: Bool = false, cachedirTag: Bool = false, transport: Transport? = nil
    ) {
        self.app = app
        self.mountPoint = mountPoint
        self.allowOther = allowOther
        self.readOnly = readOnly
        self.running = running
        self.documents = documents
        self.cachedirTag = cachedirTag
        self.transport = transport
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        if let mountPoint { try requireAbsolute(mountPoint, "mountPoint", empty: .mountPoint) }
    }
}

/// Ends a mount.
public struct UnmountRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "unmount"

    /// An absolute path.
    public var mountPoint: String
    /// Takes the mount out of sight at once; it ends when the last file in it is closed. False when null.
    public var lazy: Bool?

    public init(mountPoint: String, lazy: Bool = false) {
        self.mountPoint = mountPoint
        self.lazy = lazy
    }

    public func check() throws(DeviceError) { try requireAbsolute(mountPoint, "mountPoint", empty: .notMounted) }
}

/// Waits for the end of a mount. The response comes at once where none is there.
public struct MountEndRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "mount-end"

    /// An absolute path.
    public var mountPoint: String

    public init(mountPoint: String) {
        self.mountPoint = mountPoint
    }

    public func check() throws(DeviceError) { try requireAbsolute(mountPoint, "mountPoint", empty: .badRequest) }
}
