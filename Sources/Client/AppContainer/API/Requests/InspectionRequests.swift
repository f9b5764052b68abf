// Requests that look and change nothing, but for a check that repairs: one path, one app, the whole device.

/// Asks for the rules that hold for a path in an app's home.
public struct InspectRequest: ControlRequest {
    public typealias Reply = Inspection
    public static let path = "inspect"

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

/// Surveys an app's data, group and iCloud containers, by size.
public struct SurveyRequest: ControlRequest {
    public typealias Reply = Survey
    public static let path = "survey"

    public var app: String

    public init(app: String) {
        self.app = app
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Audits an app's data container and its groups against Apple's data storage guidelines.
public struct AuditRequest: ControlRequest {
    public typealias Reply = AuditReport
    public static let path = "audit"

    public var app: String
    /// Lines of a sort and a pattern, which are added to the built-in ones; none when null.
    public var patterns: String?

    public init(app: String, patterns: String? = nil) {
        self.app = app
        self.patterns = patterns
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Checks every header, block and length of the device.
public struct CheckRequest: ControlRequest {
    public typealias Reply = CheckReport
    public static let path = "check"

    /// Whether what a crash left over is removed. Content is never touched. False when null.
    public var repair: Bool?

    public init(repair: Bool = false) {
        self.repair = repair
    }

    public func check() {}
}
