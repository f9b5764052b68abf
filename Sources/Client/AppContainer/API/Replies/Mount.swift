// A mounted app, as the device lists it.

/// An app's home, shown at a mount point.
public struct Mount: Codable, Hashable, Sendable {
    public var app: String
    public var mountPoint: String
    public var readOnly: Bool
    public var allowOther: Bool
    /// Whether only `Documents` is shown.
    public var documents: Bool
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`.
    public var cachedirTag: Bool

    public init(
        app: String, mountPoint: String, readOnly: Bool, allowOther: Bool, documents: Bool = false,
        cachedirTag: Bool = false
    ) {
        self.app = app
        self.mountPoint = mountPoint
        self.readOnly = readOnly
        self.allowOther = allowOther
        self.documents = documents
        self.cachedirTag = cachedirTag
    }
}
