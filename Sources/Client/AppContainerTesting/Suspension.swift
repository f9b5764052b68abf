// Suspension of the test's own process, which is the app: expected, and not carried out.

public import AppContainer
import Glibc

/// Expects that a phone could suspend the app after the body: no file in a group container is locked by this process,
/// and no transaction of a SQLite database there is open.
///
/// The app enters the background when the body has ended, and `UIApplication` of ContainerFoundation posts its
/// notifications. Each lock that is held at the end of `after` is a failure, because a phone would kill the process for
/// it (0xdead10cc). So is, after a time, each background task that has not ended. Then the app is in the foreground
/// again. Nothing is frozen or killed.
///
/// ```swift
/// try await expectSuspension(after: .seconds(1)) {
///     try await store.save(note)
/// }
/// ```
///
/// - Parameters:
///   - after: the time in the background, which ends early with the last background task. Without it the locks of the
///     body's end count, as observers of notifications have no time.
///   - container: the one of the test.
///   - file: the place of the call, for the report.
///   - fileID: as `file`.
///   - line: as `file`.
///   - column: as `file`.
///   - isolation: the actor on which the body runs; that of the caller.
///   - body: what the app does before.
/// - Returns: the locks.
@discardableResult
public func expectSuspension(
    after: Duration = .zero, in container: TestContainer = AppContainer.current, file: StaticString = #filePath,
    fileID: String = #fileID, line: Int = #line, column: Int = #column,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void = {}
) async throws -> [HeldLock] {
    let place = Place(file: file, fileID: fileID, line: line, column: column)
    try await body()
    let rehearsal = try await container.rehearseSuspension(after: after)
    for lock in rehearsal.locks { place.fail(lock.failure) }
    if after > .zero {
        for name in rehearsal.unendedTasks {
            place.fail(
                "expected every background task to end within \(after), but \"\(name)\" has not; call "
                    + "endBackgroundTask, at the latest in its expiration handler")
        }
    }
    return rehearsal.locks
}

extension TestContainer {
    /// The locks for which a phone would kill this process if it suspended the app, without a failure. The app is in
    /// the background meanwhile. Nothing is frozen or killed.
    /// - Parameter after: the time in the background, which ends early with the last background task.
    public func rehearseSuspension(after: Duration = .zero) async throws(DeviceError) -> SuspensionRehearsal {
        try await device.rehearseSuspension(of: app, process: getpid(), after: after)
    }
}

extension HeldLock {
    /// The lock that was found, and what to do.
    fileprivate var failure: String {
        let holder = [process ?? "this process", "(\(pid))"].joined(separator: " ")
        let held = lock == "sqlite" ? "a transaction of the database \(path) is open" : "\(path) is locked (\(lock))"
        let remedy = lock == "sqlite" ? "end the transaction" : "release the lock"
        return
            "expected the app to survive a suspension, but \(held) by \(holder), so that a phone kills it "
            + "(0xdead10cc); \(remedy) before the app is suspended, within beginBackgroundTask, or keep the file out "
            + "of the group"
    }
}
