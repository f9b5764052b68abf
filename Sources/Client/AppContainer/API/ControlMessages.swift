// The control API: each request, its path and what it is answered with.
//
// Requests are HTTP/1.1 over the device's control socket. A query is a GET; everything else is a POST with a JSON
// object. The answer is 200 with a JSON object, or another status with a `Failure`.

/// A request that the control API understands.
public protocol ControlRequest: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The path below ``ControlPath/root``.
    static var path: String { get }
    /// A query is a GET without a body; it changes nothing.
    static var isQuery: Bool { get }
    /// Whether it can be sent again when nobody knows what became of it, because its daemon ended without an answer.
    static var isRepeatable: Bool { get }
}

extension ControlRequest {
    public static var isQuery: Bool { false }
    public static var isRepeatable: Bool { true }
}

public enum ControlPath {
    public static let root = "/v1/"
    /// A query that is answered with the events, one a line, as they come; below ``root``.
    public static let followedEvents = "events/follow"
    /// Bytes that the body of a request may have.
    public static let largestBody = 1 << 20
}

/// The answer to a request that has nothing to say.
public struct Done: Codable, Hashable, Sendable {
    public init() {}
}

/// What the device and its daemon are doing.
public struct StatusRequest: ControlRequest {
    public typealias Reply = DeviceStatus
    public static let path = "status"
    public static let isQuery = true
    public init() {}
}

/// Unmounts everything and ends the daemon.
public struct ShutdownRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "shutdown"
    public init() {}
}

/// The apps that are installed.
public struct AppsRequest: ControlRequest {
    public typealias Reply = [App]
    public static let path = "apps"
    public static let isQuery = true
    public init() {}
}

/// What has happened on the device, the oldest first, as far as the record goes back.
public struct EventsRequest: ControlRequest {
    public typealias Reply = [Event]
    public static let path = "events"
    public static let isQuery = true
    public init() {}
}

/// Gives the passcode.
public struct UnlockRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "unlock"
    public var passcode: String

    public init(passcode: String) {
        self.passcode = passcode
    }
}

/// Locks the device: after the grace period, unless it is told otherwise.
public struct LockRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "lock"
    /// Skips the grace period; false when null.
    public var now: Bool?
    /// Whether the answer comes when the device is locked; else when the lock is announced. True when null.
    public var wait: Bool?

    public init(now: Bool = false, wait: Bool = true) {
        self.now = now
        self.wait = wait
    }
}

/// Does to the device what a reboot does.
public struct RestartRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "restart"
    public static let isRepeatable = false
    public init() {}
}

/// Sets, changes or removes the passcode.
public struct PasscodeRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "passcode"
    public static let isRepeatable = false

    public enum Action: String, Codable, CaseIterable, Sendable {
        /// Gives a device without a passcode `new`; it stays unlocked.
        case set
        /// Exchanges `old` for `new`; the device stays as it is.
        case change
        /// Takes `old` away; the device is unlocked then.
        case remove
    }

    public var action: Action
    public var old: String?
    public var new: String?

    public init(_ action: Action, old: String? = nil, new: String? = nil) {
        self.action = action
        self.old = old
        self.new = new
    }
}

/// Installs a `.app` directory or an `.ipa`, or updates the app that is installed.
public struct InstallRequest: ControlRequest {
    public typealias Reply = App
    public static let path = "install"
    public static let isRepeatable = false
    /// The absolute path of the `.app` directory or the `.ipa`.
    public var app: String
    public var groups: [String]?
    public var iCloud: [String]?
    /// The user and group that the containers belong to; the daemon's own when null, and at an update those that they
    /// belong to already.
    public var owner: UInt32?
    public var ownerGroup: UInt32?
    /// Whether an app without a signature is refused; the device signs it when false or null.
    public var requireSigned: Bool?
    /// Certificates as PEM text, of which one has to be the signer's or lead to it. Any signer will do when null.
    public var trust: String?
    /// Whether an installed app that is running is ended to be updated; its update is refused when false or null.
    public var terminate: Bool?

    public init(
        app: String, groups: [String] = [], iCloud: [String] = [], owner: UInt32? = nil, ownerGroup: UInt32? = nil,
        requireSigned: Bool = false, trust: String? = nil, terminate: Bool = false
    ) {
        self.app = app
        self.groups = groups
        self.iCloud = iCloud
        self.owner = owner
        self.ownerGroup = ownerGroup
        self.requireSigned = requireSigned
        self.trust = trust
        self.terminate = terminate
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        app = try container.decode(String.self, forKey: .app)
        groups = try container.decodeIfPresent([String].self, forKey: .groups)
        iCloud = try container.decodeIfPresent([String].self, forKey: .iCloud)
        owner = try container.account(forKey: .owner)
        ownerGroup = try container.account(forKey: .ownerGroup)
        requireSigned = try container.decodeIfPresent(Bool.self, forKey: .requireSigned)
        trust = try container.decodeIfPresent(String.self, forKey: .trust)
        terminate = try container.decodeIfPresent(Bool.self, forKey: .terminate)
    }
}

extension KeyedDecodingContainer {
    /// The number of a user or group. The decoder does not tell which number was too small or too large for it.
    fileprivate func account(forKey key: Key) throws -> UInt32? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The largest one is nobody's: calls that set an owner take it for "leave it as it is".
        guard let number = try? decode(Double.self, forKey: key), let account = UInt32(exactly: number), account != .max
        else { throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not an account") }
        return account
    }
}

/// Removes an app and its containers.
public struct UninstallRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "uninstall"
    public static let isRepeatable = false
    public var app: String

    public init(app: String) {
        self.app = app
    }
}

/// Empties an app's data container to what it was after the installation.
public struct ResetRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "reset"
    public static let isRepeatable = false
    public var app: String

    public init(app: String) {
        self.app = app
    }
}

/// Entitles an installed app to further containers.
public struct EntitleRequest: ControlRequest {
    public typealias Reply = App
    public static let path = "entitle"
    public var app: String
    public var groups: [String]?
    public var iCloud: [String]?

    public init(app: String, groups: [String] = [], iCloud: [String] = []) {
        self.app = app
        self.groups = groups
        self.iCloud = iCloud
    }
}

/// Puts files or directories into an app's Inbox.
public struct DeliverRequest: ControlRequest {
    /// The paths of what was delivered, relative to the app's home.
    public typealias Reply = [String]
    public static let path = "deliver"
    public static let isRepeatable = false
    public var app: String
    /// Absolute paths of the host.
    public var files: [String]

    public init(app: String, files: [String]) {
        self.app = app
        self.files = files
    }
}

/// Shows an app's home at a mount point.
public struct MountRequest: ControlRequest {
    public typealias Reply = Mount
    public static let path = "mount"
    public var app: String
    /// An absolute path. When null, a place that the device makes and takes away again: like an app's home on a phone, it
    /// is named after the container.
    public var mountPoint: String?
    public var allowOther: Bool?
    public var readOnly: Bool?
    /// Whether the app is marked running for as long as it is mounted. False when null.
    public var running: Bool?
    /// Whether only `Documents` is shown, as file sharing does. False when null.
    public var documents: Bool?
    /// Whether `Library/Caches` and `tmp` show a `CACHEDIR.TAG`, for backup tools. False when null.
    public var cachedirTag: Bool?

    public init(
        app: String, mountPoint: String? = nil, allowOther: Bool = false, readOnly: Bool = false, running: Bool = false,
        documents: Bool = false, cachedirTag: Bool = false
    ) {
        self.app = app
        self.mountPoint = mountPoint
        self.allowOther = allowOther
        self.readOnly = readOnly
        self.running = running
        self.documents = documents
        self.cachedirTag = cachedirTag
    }
}

/// Ends a mount.
public struct UnmountRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "unmount"
    /// An absolute path.
    public var mountPoint: String
    /// Takes the mount out of sight now; it ends when the last file in it is closed.
    public var lazy: Bool?

    public init(mountPoint: String, lazy: Bool = false) {
        self.mountPoint = mountPoint
        self.lazy = lazy
    }
}

/// Is answered when a mount has ended.
public struct MountEndRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "mount-end"
    /// An absolute path.
    public var mountPoint: String

    public init(mountPoint: String) {
        self.mountPoint = mountPoint
    }
}

/// Tells the rules that hold for a path in an app's home.
public struct InspectRequest: ControlRequest {
    public typealias Reply = Inspection
    public static let path = "inspect"
    public var app: String
    /// Relative to the app's home.
    public var path: String

    public init(app: String, path: String) {
        self.app = app
        self.path = path
    }
}

/// Looks at every header, block and length of the device.
public struct CheckRequest: ControlRequest {
    public typealias Reply = CheckReport
    public static let path = "check"
    /// Clears away what a crash left over. Content is never touched.
    public var repair: Bool?

    public init(repair: Bool = false) {
        self.repair = repair
    }
}
