// The app's home of the running code.

import Foundation
import Platform
import Synchronization

/// The home to which `URL.documentsDirectory`, `NSHomeDirectory()` and the like refer.
///
/// An app started by `appcontainer run` has its home in the environment variable `CFFIXED_USER_HOME`, as with
/// Foundation alone. Tests in one process have their own homes by a task-local value:
///
/// ```swift
/// try await ContainerHome.$current.withValue("/run/user/1000/home") {
///     try Storage().save(note)               // into that home's Documents
/// }
/// ```
///
/// Child tasks and `Task { }` inherit it. Detached tasks, threads and blocks on dispatch queues do not, and use the
/// home of the environment. Linux only.
public enum ContainerHome {
    /// The absolute path of the current task's home; nil for that of the environment. Of a home that an update has
    /// moved in a test, the path that it had before.
    @TaskLocal public static var current: String?

    /// The current home without a trailing slash; nil if there is none, where Foundation's own behaviour applies.
    static var path: String? {
        if let current {
            let home = HostPath.withoutTrailingSlashes(current)
            return moved.withLock { $0[home] } ?? home
        }
        guard ProcessSettings.variable("CFFIXED_USER_HOME")?.hasPrefix("/") == true else { return nil }
        return Foundation::NSHomeDirectory()
    }

    /// Where homes are that a test has moved, by the paths that they had. A mount point's name does not come again.
    private static let moved = Mutex<[String: String]>([:])

    /// Has tasks whose home was at one path find it at another: a test's app, which an update has moved.
    package static func move(_ old: String, to new: String) {
        let (old, new) = (HostPath.withoutTrailingSlashes(old), HostPath.withoutTrailingSlashes(new))
        moved.withLock { moved in
            for (first, place) in moved where place == old { moved[first] = new }
            moved[old] = new
            moved[new] = nil
        }
    }
}
