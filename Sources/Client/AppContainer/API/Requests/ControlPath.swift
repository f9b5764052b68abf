// The constants of the control API: paths that are no request's own, and limits.

/// Paths and limits of the control API.
public enum ControlPath {
    /// The path that all others begin with; it has the API's version.
    public static let root = "/v1/"
    /// The query that is answered with the events, one a line, as they come; below ``root``.
    public static let followedEvents = "events/follow"
    /// The query that is answered with the changes of files, one a line, as they come; below ``root``.
    public static let followedChanges = "changes/follow"
    /// The header that names the device by its identifier. A device refuses a request that names another one, with the
    /// status 421.
    public static let deviceHeader = "Device"
    /// The most bytes that the body of a request may have.
    public static let largestBody = 1 << 20
}
