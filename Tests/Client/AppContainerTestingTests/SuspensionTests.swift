// A suspension that is expected, and the application's way into the background and back.

import AppContainer
import AppContainerTesting
import ContainerFoundation
import Glibc
import Synchronization
import Testing

private let group = "group.com.example.notes"

@Suite(.appContainer(app: notes, groups: [group])) struct SuspensionTests {
    private let container = AppContainer.current

    private func opened(_ path: String) throws -> Int32 {
        let file = unsafe open(path, O_RDWR | O_CREAT, 0o600)
        try #require(file >= 0)
        return file
    }

    @Test func `a process that holds no lock in a group survives`() async throws {
        let own = try opened(container.path("Documents/lock"))
        let shared = try opened(container.path(inGroup: group, "lock"))
        defer {
            close(own)
            close(shared)
        }
        let locks = try await expectSuspension {
            #expect(flock(own, LOCK_EX) == 0)
            #expect(flock(shared, LOCK_EX) == 0 && flock(shared, LOCK_UN) == 0)
        }
        #expect(locks.isEmpty)
        try await expectEvent(.entered)
    }

    @Test func `a lock in a group is a failure that says what to do`() async throws {
        let file = try opened(container.path(inGroup: group, "lock"))
        defer { close(file) }
        try await withKnownIssue {
            let locks = try await expectSuspension { #expect(flock(file, LOCK_SH) == 0) }
            #expect(locks.map(\.path) == ["Groups/\(group)/lock"] && locks.map(\.lock) == ["flock"])
            #expect(locks.map(\.pid) == [getpid()])
        } matching: { issue in
            issue.comments.contains {
                $0.rawValue.contains("Groups/\(group)/lock is locked (flock) by ")
                    && $0.rawValue.contains("release the lock")
            }
        }
        // Without a failure, for a test of its own.
        #expect(try await container.rehearseSuspension().locks.count == 1)
        #expect(flock(file, LOCK_UN) == 0)
        #expect(try await container.rehearseSuspension().locks.isEmpty)
    }

    @Test func `what the body throws is thrown`() async throws {
        struct Own: Error {}
        await #expect(throws: Own.self) { try await expectSuspension { throw Own() } }
    }

    @Test func `the application hears of the background and of the foreground`() async throws {
        let heard = await Heard()
        try await expectSuspension(after: .milliseconds(300))
        await heard.wait(for: UIApplication.didBecomeActiveNotification)
        let names = await heard.names
        #expect(
            names == [
                "UIApplicationWillResignActiveNotification", "UIApplicationDidEnterBackgroundNotification background",
                "UIApplicationWillEnterForegroundNotification background", "UIApplicationDidBecomeActiveNotification",
            ])
        // The delegate is told before the notification.
        #expect(await heard.told == ["background after 1", "active after 3"])
        await heard.stop()
        let state = await UIApplication.shared.applicationState
        #expect(state == .active)
        let remaining = await UIApplication.shared.backgroundTimeRemaining
        #expect(remaining == .greatestFiniteMagnitude)
    }

    @Test func `a task that ends shortens the background`() async throws {
        let application = await UIApplication.shared
        let task = application.beginBackgroundTask(withName: "save")
        #expect(task != .invalid)
        // The request has arrived when the rehearsal names it.
        while try await container.rehearseSuspension().unendedTasks != ["save"] { usleep(10_000) }
        let observer = NotificationCenter.default.addObserver(
            forName: UIApplication.didEnterBackgroundNotification, object: application, queue: nil
        ) { _ in
            // A rehearsal from above may be told only now: it left no time.
            guard MainActor.assumeIsolated({ application.backgroundTimeRemaining }) > 30 else { return }
            application.endBackgroundTask(task)
        }
        let begun = ContinuousClock.now
        try await expectSuspension(after: .seconds(60))
        #expect(ContinuousClock.now - begun < .seconds(30))
        NotificationCenter.default.removeObserver(observer)
    }

    @Test func `a task that does not end hears of the end, and is a failure`() async throws {
        let application = await UIApplication.shared
        let expired = Count()
        let task = application.beginBackgroundTask(withName: "upload") { expired.add(1) }
        let ended = application.beginBackgroundTask { expired.add(100) }
        application.endBackgroundTask(ended)
        while try await container.rehearseSuspension().unendedTasks != ["upload"] { usleep(10_000) }
        try await withKnownIssue {
            try await expectSuspension(after: .milliseconds(600))
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("\"upload\" has not; call endBackgroundTask") }
        }
        #expect(expired.value == 1)
        application.endBackgroundTask(task)
        application.endBackgroundTask(task)
        application.endBackgroundTask(.invalid)
        while try await !container.rehearseSuspension().unendedTasks.isEmpty { usleep(10_000) }
    }
}

private final class Count: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int) { count.withLock { $0 += number } }
}

/// Notifications in their order, with the state of the application where it is in the background.
@MainActor private final class Heard: UIApplicationDelegate {
    private(set) var names: [String] = []
    private(set) var told: [String] = []
    private var observers: [any NSObjectProtocol] = []

    init() {
        let all = [
            UIApplication.willResignActiveNotification, UIApplication.didEnterBackgroundNotification,
            UIApplication.willEnterForegroundNotification, UIApplication.didBecomeActiveNotification,
        ]
        let application = UIApplication.shared
        application.delegate = self
        for name in all {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: application, queue: nil) {
                    [weak self] _ in
                    MainActor.assumeIsolated {
                        let place = application.applicationState == .background ? " background" : ""
                        self?.names.append(name.rawValue + place)
                    }
                })
        }
    }

    func applicationDidEnterBackground(_ application: UIApplication) { told.append("background after \(names.count)") }

    func applicationDidBecomeActive(_ application: UIApplication) { told.append("active after \(names.count)") }

    func stop() {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    func wait(for name: Notification.Name) async {
        for _ in 0..<500 where names.last?.hasPrefix(name.rawValue) != true {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
