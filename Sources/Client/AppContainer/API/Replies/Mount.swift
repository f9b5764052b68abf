// A mounted app, as the device lists it.

/// An app's home, shown at a mount point.
public struct Mount: Codable, Hashable, Sendable {
    /// The way by which the kernel's requests reach the device's process.
    public enum Transport: String, Codable, CaseIterable, Sendable {
        /// read(2) and write(2) of /dev/fuse.
        case devFuse = "dev-fuse"
        /// FUSE over io_uring.
        case ioUring = "io-uring"
    }

    public var app: String
    public var mountPoint: String
    public var readOnly: Bool
    public var allowOther: Bool
    /// Whether only `Documents` is shown.
    public var documents: Bool
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`.
    public var cachedirTag: Bool
    public var transport: Transport

    public init(
        app: String, mountPoint: String, readOnly: Bool, allowOther: Bool, documents: Bool = false,
        cachedirTag: Bool = false, transport: Transport = .devFuse
    ) {
        self.app = app
        self.mountPoint = mountPoint
        self.readOnly = readOnly
        self.allowOther = allowOther
        self.documents = documents
        self.cachedirTag = cachedirTag
        self.transport = transport
    }
}
