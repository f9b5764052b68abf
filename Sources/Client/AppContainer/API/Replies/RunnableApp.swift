// Where and how to run an app.

/// An app that is mounted, with its seal looked at.
public struct RunnableApp: Codable, Hashable, Sendable {
    /// Where the app's home is.
    public var mountPoint: String
    /// Whether it is mounted only to run something in it: the mount ends with the last lease.
    public var isMountedToRun: Bool
    /// The path of the bundle's main executable; null when its Info.plist names none.
    public var executable: String?
    /// What the app is marked running by, to be named in further requests.
    public var lease: UInt64

    public init(mountPoint: String, isMountedToRun: Bool, executable: String?, lease: UInt64) {
        self.mountPoint = mountPoint
        self.isMountedToRun = isMountedToRun
        self.executable = executable
        self.lease = lease
    }

    /// The variables of the environment by which shells and Foundation take the app's home for theirs.
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
