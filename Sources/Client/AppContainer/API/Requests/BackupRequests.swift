// Requests about backups: made, listed, restored.

/// Writes a backup of all apps, or of one: `Documents`, `Library` without `Caches`, and the app's groups; nothing that
/// has the mark of exclusion. Apps may be in use meanwhile.
///
/// With an earlier backup of the same format in `since`, unchanged files are taken from that. A tar then holds only
/// changed files, and its restore needs the earlier one; a Finder backup is complete in itself.
public struct BackupRequest: ControlRequest {
    public typealias Reply = BackupReport
    public static let path = "backup"
    public static let isRepeatable = false

    public enum Format: String, Codable, CaseIterable, Sendable {
        /// One file, a PAX tar.
        case tar
        /// The directory of a Finder or iTunes backup.
        case finder
    }

    /// The absolute path of the backup; nothing is there yet.
    public var output: String
    /// Tar when null.
    public var format: Format?
    /// The app that is backed up, with its groups; all when null.
    public var app: String?
    /// The password that encrypts a Finder backup; not encrypted when null. Where the device has a backup password, it
    /// has to be that.
    public var password: String?
    /// Whether files with the mark of exclusion are backed up as well. False when null.
    public var ignoreExclusions: Bool?
    /// The absolute path of an earlier backup.
    public var since: String?

    public init(
        output: String, format: Format = .tar, app: String? = nil, password: String? = nil,
        ignoreExclusions: Bool = false, since: String? = nil
    ) {
        self.output = output
        self.format = format
        self.app = app
        self.password = password
        self.ignoreExclusions = ignoreExclusions
        self.since = since
    }

    public func check() throws(DeviceError) {
        if let app { try requireIdentifier(app) }
        try requireAbsolute(output, "output", empty: .badRequest)
        if let since { try requireAbsolute(since, "since") }
        guard password == nil || format == .finder else {
            throw DeviceError(.badRequest, "a tar is not encrypted; leave the password out, or make a Finder backup")
        }
    }
}

/// Sets, changes or removes the backup password: that under which a backup has the device's class keys, so that another
/// device can open the ciphertext in it.
public struct BackupPasswordRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "backup-password"
    public static let isRepeatable = false

    public enum Action: String, Codable, CaseIterable, Sendable {
        /// Sets `new` on an unlocked device without a backup password.
        case set
        /// Replaces `old` by `new`. The device may be locked.
        case change
        /// Removes `old`.
        case remove
    }

    public var action: Action
    /// The present password, for `change` and `remove`.
    public var old: String?
    /// The new password, for `set` and `change`.
    public var new: String?

    public init(_ action: Action, old: String? = nil, new: String? = nil) {
        self.action = action
        self.old = old
        self.new = new
    }

    // A loop over both passwords, in which actions were compared, was compiled to other bytes now and then.
    public func check() throws(DeviceError) {
        switch action {
        case .set:
            try require(old == nil, "takes no", "old")
            try require(new != nil, "needs", "new")
        case .change:
            try require(old != nil, "needs", "old")
            try require(new != nil, "needs", "new")
        case .remove:
            try require(old != nil, "needs", "old")
            try require(new == nil, "takes no", "new")
        }
        if let new { try requireOneLine(new, "backup password") }
    }

    private func require(_ isMet: Bool, _ words: String, _ name: String) throws(DeviceError) {
        guard !isMet else { return }
        throw DeviceError(.badRequest, "backup-password: \(action.rawValue) \(words) \"\(name)\"")
    }
}

/// Lists what a backup would contain, and what it would leave out and why.
public struct BackupListRequest: ControlRequest {
    public typealias Reply = [BackupItem]
    public static let path = "backup-list"

    /// The app that is listed, with its groups; all when null.
    public var app: String?
    /// As in ``BackupRequest``.
    public var ignoreExclusions: Bool?

    public init(app: String? = nil, ignoreExclusions: Bool = false) {
        self.app = app
        self.ignoreExclusions = ignoreExclusions
    }

    public func check() throws(DeviceError) {
        if let app { try requireIdentifier(app) }
    }
}

/// Lists the paths of each app's home that a phone's backup leaves out, for backups of the mount by other tools.
public struct BackupExcludedRequest: ControlRequest {
    public typealias Reply = [ExcludedHome]
    public static let path = "backup-excluded"

    /// The app or app extension whose home is looked at; all that are installed when null.
    public var app: String?

    public init(app: String? = nil) {
        self.app = app
    }

    public func check() throws(DeviceError) {
        if let app { try requireIdentifier(app) }
    }
}

/// Restores the containers of a backup, in place of those that the device has.
public struct RestoreRequest: ControlRequest {
    public typealias Reply = RestoreReport
    public static let path = "restore"
    public static let isRepeatable = false

    /// The absolute path of a backup of either format.
    public var input: String
    /// The password of an encrypted Finder backup.
    public var password: String?
    /// The one container that is restored, such as `AppDomain-com.example.Notes`; all when null.
    public var domain: String?

    public init(input: String, password: String? = nil, domain: String? = nil) {
        self.input = input
        self.password = password
        self.domain = domain
    }

    public func check() throws(DeviceError) { try requireAbsolute(input, "input") }
}
