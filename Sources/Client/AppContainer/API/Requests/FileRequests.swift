// Requests about the files of an app's home: listed, excluded from backups, protected.

/// Lists a directory of an app's home, or all that lies below it, part by part.
public struct FilesRequest: ControlRequest {
    public typealias Reply = FileListing
    public static let path = "files"

    public var app: String
    /// The directory, relative to the app's home. The home itself when null.
    public var path: String?
    /// The path's bytes in base64, as a listing has them where they are not UTF-8; `path` does not count then.
    public var pathBytes: String?
    /// Whether what lies in its directories is listed as well. False when null.
    public var recursive: Bool?
    /// The place behind which the listing begins: ``FileListing/next`` of the part before. At the beginning when null.
    public var after: String?
    /// The most entries of the reply. 1,000 when null.
    public var limit: Int?

    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - path: empty for the home itself.
    ///   - pathBytes: the path's bytes in base64, where they are not UTF-8.
    ///   - recursive: whether what lies in its directories is listed as well.
    ///   - after: ``FileListing/next`` of the part before; nil at the beginning.
    ///   - limit: the most entries of the reply; nil for 1,000.
    public init(
        app: String, path: String = "", pathBytes: String? = nil, recursive: Bool = false, after: String? = nil,
        limit: Int? = nil
    ) {
        self.app = app
        self.path = path
        self.pathBytes = pathBytes
        self.recursive = recursive
        self.after = after
        self.limit = limit
    }

    /// The most entries that a request may ask for.
    public static let most = 10_000
    /// The entries of a reply to a request that names no number.
    public static let usual = 1000

    public func check() throws(DeviceError) {
        try requireFile(path ?? "", pathBytes, of: app)
        guard (1...FilesRequest.most).contains(limit ?? FilesRequest.usual) else {
            throw DeviceError(.badRequest, "files: \"limit\" is not one of 1 to \(FilesRequest.most)")
        }
    }
}

/// Marks a file or directory as excluded from backups.
public struct ExcludeRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "exclude"

    public var app: String
    /// Relative to the app's home.
    public var path: String
    /// The path's bytes in base64, as a listing has them where they are not UTF-8; `path` does not count then.
    public var pathBytes: String?

    public init(app: String, path: String, pathBytes: String? = nil) {
        self.app = app
        self.path = path
        self.pathBytes = pathBytes
    }

    public func check() throws(DeviceError) { try requireFile(path, pathBytes, of: app) }
}

/// Removes the mark that excludes a file or directory from backups.
public struct IncludeRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "include"

    public var app: String
    /// Relative to the app's home.
    public var path: String
    /// The path's bytes in base64, as a listing has them where they are not UTF-8; `path` does not count then.
    public var pathBytes: String?

    public init(app: String, path: String, pathBytes: String? = nil) {
        self.app = app
        self.path = path
        self.pathBytes = pathBytes
    }

    public func check() throws(DeviceError) { try requireFile(path, pathBytes, of: app) }
}

/// Gives a file a protection class, or a directory the class of what is created in it from now on.
public struct ProtectRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "protect"

    public var app: String
    /// Relative to the app's home.
    public var path: String
    /// The path's bytes in base64, as a listing has them where they are not UTF-8; `path` does not count then.
    public var pathBytes: String?
    /// The class by Foundation's raw value. When null, the one that the directory above gives.
    public var protection: String?
    /// Whether what lies in a directory gets the class too. False when null.
    public var recursive: Bool?

    public init(
        app: String, path: String, pathBytes: String? = nil, protection: FileProtection?, recursive: Bool = false
    ) {
        self.app = app
        self.path = path
        self.pathBytes = pathBytes
        self.protection = protection?.rawValue
        self.recursive = recursive
    }

    public func check() throws(DeviceError) {
        try requireFile(path, pathBytes, of: app)
        if let protection, FileProtection(rawValue: protection) == nil {
            let classes = FileProtection.allCases.map(\.rawValue).joined(separator: ", ")
            throw DeviceError(.badRequest, "protect: \"protection\" is not one of \(classes)")
        }
    }
}
