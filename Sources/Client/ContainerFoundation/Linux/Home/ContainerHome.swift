// Which app's home the code that runs just now lives in.

import Foundation
import Platform

/// The app's home that `URL.documentsDirectory`, `NSHomeDirectory()` and their siblings lead to.
///
/// An app that `appcontainer run` has started knows its home by the environment variable `CFFIXED_USER_HOME`, as with
/// Foundation alone. Tests of one process live in homes of their own by a task-local value:
///
/// ```swift
/// try await ContainerHome.$current.withValue("/run/user/1000/home") {
///     try Storage().save(note)               // into that home's Documents
/// }
/// ```
///
/// Child tasks and `Task { }` inherit it; detached tasks, threads and blocks on dispatch queues do not, and live in the
/// home of the environment. Linux only.
public enum ContainerHome {
    /// The absolute path of the present task's home; nil leaves the choice to the environment.
    @TaskLocal public static var current: String?

    /// The home that is in force, without a slash at its end; nil where there is none, and all is as Foundation has it.
    static var path: String? {
        if let current { return current.withoutTrailingSlashes }
        guard ProcessSettings.variable("CFFIXED_USER_HOME")?.hasPrefix("/") == true else { return nil }
        return Foundation::NSHomeDirectory()
    }
}

extension String {
    var withoutTrailingSlashes: String {
        var path = self[...]
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}
