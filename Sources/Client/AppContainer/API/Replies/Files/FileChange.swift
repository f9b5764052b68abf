// A line of the answer to the query that follows changes of files.

/// A place at which files may have changed. A follower that shows them lists it again.
public struct FileChange: Codable, Hashable, Sendable {
    /// The identifier of the app; for a container that several apps share, of the one through whose home it was
    /// reached. Null where anything on the device may have changed.
    public var app: String?
    /// A file that has changed, or a directory whose entries have, relative to the app's home. Null where anything of
    /// the app may have changed.
    public var path: String?
    /// The path's bytes in base64; null where it is UTF-8, and `path` is enough.
    public var pathBytes: String?

    public init(app: String?, path: String?, pathBytes: String? = nil) {
        self.app = app
        self.path = path
        self.pathBytes = pathBytes
    }

    private enum CodingKeys: CodingKey {
        case app, path, pathBytes
    }

    /// Writes null where there is nothing, so that a script finds the keys in every line.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(app, forKey: .app)
        try container.encode(path, forKey: .path)
        try container.encode(pathBytes, forKey: .pathBytes)
    }
}
