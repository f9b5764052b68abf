// Requests about installed apps: listed, installed, removed, emptied, entitled, given files.

/// Lists the installed apps.
public struct AppsRequest: ControlRequest {
    public typealias Reply = [App]
    public static let path = "apps"
    public static let isQuery = true

    public init() {}

    public func check() {}
}

/// Installs a `.app` directory or an `.ipa`, or updates the app that is installed.
public struct InstallRequest: ControlRequest {
    public typealias Reply = App
    public static let path = "install"
    public static let isRepeatable = false

    /// The absolute path of the `.app` directory or the `.ipa`.
    public var app: String
    /// Identifiers of the group containers that the app is entitled to.
    public var groups: [String]?
    /// Identifiers of the iCloud containers that the app is entitled to.
    public var iCloud: [String]?
    /// The user and group that the containers belong to. When null: at an update those that they belong to already,
    /// otherwise the daemon's own.
    public var owner: UInt32?
    public var ownerGroup: UInt32?
    /// Whether an app without a signature is refused; the device signs it when false or null.
    public var requireSigned: Bool?
    /// Certificates as PEM text, of which one has to be the signer's or lead to it. Any signer passes when null.
    public var trust: String?
    /// Whether an installed app that is running is ended to be updated; its update is refused when false or null.
    public var terminate: Bool?
    /// Whether an app of another signer may take the place of the installed one; refused when false or null.
    public var replaceSigner: Bool?

    public init(
        app: String, groups: [String] = [], iCloud: [String] = [], owner: UInt32? = nil, ownerGroup: UInt32? = nil,
        requireSigned: Bool = false, trust: String? = nil, terminate: Bool = false,
        replaceSigner: Bool = false
    ) {
        self.app = app
        self.groups = groups
        self.iCloud = iCloud
        self.owner = owner
        self.ownerGroup = ownerGroup
        self.requireSigned = requireSigned
        self.trust = trust
        self.terminate = terminate
        self.replaceSigner = replaceSigner
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
        replaceSigner = try container.decodeIfPresent(Bool.self, forKey: .replaceSigner)
    }

    public func check() throws(DeviceError) {
        try requireAbsolute(app, "app")
        try requireIdentifiers(groups)
        try requireIdentifiers(iCloud)
    }
}

extension KeyedDecodingContainer {
    /// The number of a user or group. Decoding a Double first keeps the key in the error for a number that is too
    /// small, too large or not whole.
    fileprivate func account(forKey key: Key) throws -> UInt32? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The largest number belongs to nobody: chown(2) reads it as "leave the owner as it is".
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

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Empties an app's data container to its state after the installation.
public struct ResetRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "reset"
    public static let isRepeatable = false

    public var app: String

    public init(app: String) {
        self.app = app
    }

    public func check() throws(DeviceError) { try requireIdentifier(app) }
}

/// Entitles an installed app to further containers.
public struct EntitleRequest: ControlRequest {
    public typealias Reply = App
    public static let path = "entitle"

    public var app: String
    /// Identifiers of group containers, beside those that the app has.
    public var groups: [String]?
    /// Identifiers of iCloud containers, beside those that the app has.
    public var iCloud: [String]?

    public init(app: String, groups: [String] = [], iCloud: [String] = []) {
        self.app = app
        self.groups = groups
        self.iCloud = iCloud
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        try requireIdentifiers(groups)
        try requireIdentifiers(iCloud)
    }
}

/// Puts files or directories into an app's Inbox.
public struct DeliverRequest: ControlRequest {
    /// The paths of the delivered files, relative to the app's home.
    public typealias Reply = [String]
    public static let path = "deliver"
    public static let isRepeatable = false

    public var app: String
    /// Absolute paths of the host.
    public var files: [String]
    /// Whether items go in whose type the app does not declare, though it declares types; false when null.
    public var anyType: Bool?

    public init(app: String, files: [String], anyType: Bool = false) {
        self.app = app
        self.files = files
        self.anyType = anyType
    }

    public func check() throws(DeviceError) {
        try requireIdentifier(app)
        guard !files.isEmpty else { throw DeviceError(.badRequest, "files is empty; name what is to be delivered") }
        for file in files { try requireAbsolute(file, "each of files") }
    }
}
