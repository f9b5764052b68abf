// How long the kernel may keep what it was answered.

/// Seconds for which the kernel may answer by itself. Long, because only this daemon writes to the backing directory,
/// and it notifies the kernel of every change that does not come through the mount.
enum CacheTimeout {
    static let name = 3600.0
    static let status = 3600.0
    static let absence = 3600.0
}
