// The reply to the request for the paths that a backup leaves out.

public import FoundationEssentials

/// The home of an app, and what a phone's backup leaves out of it.
public struct ExcludedHome: Codable, Hashable, Sendable {
    /// One path that is left out: of a directory with everything in it.
    public struct Path: Codable, Hashable, Sendable {
        /// Relative to the home. Bytes that are not UTF-8 show as replacement characters.
        public var path: String
        /// The path's bytes, where they are not UTF-8; in JSON as base64.
        public var bytes: Data?

        public init(path: String, bytes: Data?) {
            self.path = path
            self.bytes = bytes
        }

        private enum CodingKeys: CodingKey {
            case path, bytes
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(path, forKey: .path)
            try container.encode(bytes, forKey: .bytes)
        }
    }

    /// The identifier of the app, or of the app extension.
    public var app: String
    /// Null while the app is not mounted.
    public var mountPoint: String?
    public var paths: [Path]

    public init(app: String, mountPoint: String?, paths: [Path]) {
        self.app = app
        self.mountPoint = mountPoint
        self.paths = paths
    }

    private enum CodingKeys: CodingKey {
        case app, mountPoint, paths
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(app, forKey: .app)
        try container.encode(mountPoint, forKey: .mountPoint)
        try container.encode(paths, forKey: .paths)
    }
}
