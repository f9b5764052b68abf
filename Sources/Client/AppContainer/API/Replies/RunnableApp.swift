// The reply to a request to run an app.

/// A mounted app with a verified seal, and how to start a process of it.
public struct RunnableApp: Codable, Hashable, Sendable {
    /// The identifier of the app, or of the extension that was asked for.
    public var identifier: String
    /// The path of the app's home.
    public var mountPoint: String
    /// Whether the mount was made for this run: it ends with the last lease.
    public var isMountedToRun: Bool
    /// The path of the bundle's main executable; null when its Info.plist names none.
    public var executable: String?
    /// The number of the lease, for further requests.
    public var lease: UInt64

    public init(identifier: String, mountPoint: String, isMountedToRun: Bool, executable: String?, lease: UInt64) {
        self.identifier = identifier
        self.mountPoint = mountPoint
        self.isMountedToRun = isMountedToRun
        self.executable = executable
        self.lease = lease
    }

    /// The environment variables with which shells and Foundation use the app's home as theirs.
    ///
    /// Foundation asks CFFIXED_USER_HOME before anything else; HOME alone loses to the user's entry in passwd(5).
    public var environment: [String: String] {
        [
            "HOME": mountPoint, "CFFIXED_USER_HOME": mountPoint, "TMPDIR": mountPoint + "/tmp", "PWD": mountPoint,
            "XDG_DATA_HOME": mountPoint + "/Library/Application Support",
            "XDG_STATE_HOME": mountPoint + "/Library/Application Support",
            "XDG_CACHE_HOME": mountPoint + "/Library/Caches",
            "XDG_CONFIG_HOME": mountPoint + "/Library/Preferences",
            "XDG_CONFIG_DIRS": mountPoint + "/Library/Preferences",
        ]
    }
}
