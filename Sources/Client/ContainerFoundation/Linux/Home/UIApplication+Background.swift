// UIKit's names for the background: notifications, the application's state, and background tasks.

public import Foundation

/// A background task of ``UIApplication``.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No task.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

extension UIApplication {
    /// The state of an application.
    public enum State: Int, Sendable {
        case active, inactive, background
    }

    /// The application will be inactive: ``didEnterBackgroundNotification`` follows.
    public nonisolated static var willResignActiveNotification: Notification.Name {
        LifecycleWatch.follow(inForce())
        return .willResignActive
    }

    /// `appcontainer suspend` has brought the app into the background. Without `--after` its processes are frozen at
    /// once, so that an observer runs when they go on.
    public nonisolated static var didEnterBackgroundNotification: Notification.Name {
        LifecycleWatch.follow(inForce())
        return .didEnterBackground
    }

    /// `appcontainer resume` brings the app to the foreground.
    public nonisolated static var willEnterForegroundNotification: Notification.Name {
        LifecycleWatch.follow(inForce())
        return .willEnterForeground
    }

    /// The application is active, after ``willEnterForegroundNotification``.
    public nonisolated static var didBecomeActiveNotification: Notification.Name {
        LifecycleWatch.follow(inForce())
        return .didBecomeActive
    }

    /// Where the application is. Always active off a mount, and until the device's first event after the first use of
    /// this or of a notification's name.
    public var applicationState: State {
        LifecycleWatch.follow(self)
        return LifecycleWatch.stay(of: self).state
    }

    /// The seconds until the app is suspended at the latest; `Double.greatestFiniteMagnitude` outside the background.
    public var backgroundTimeRemaining: TimeInterval {
        LifecycleWatch.follow(self)
        guard let deadline = LifecycleWatch.stay(of: self).deadline else { return .greatestFiniteMagnitude }
        return max(0, (deadline - ContinuousClock.now) / .seconds(1))
    }

    /// Begins a task for whose end `appcontainer suspend --after SECONDS` waits. It ends with the process at the
    /// latest.
    ///
    /// The device knows of the task when the call returns. It waits for the device for at most a second; one that has
    /// not answered by then hears of the task as soon as it can, and further calls do not wait until it has.
    ///
    /// - Parameters:
    ///   - taskName: for people.
    ///   - handler: called on the main actor shortly before the app is suspended, unless the task has ended.
    /// - Returns: the task. It is never ``UIBackgroundTaskIdentifier/invalid``; off a mount it has no effect.
    public nonisolated func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        LifecycleWatch.follow(self)
        return ApplicationTasks.begin(taskName ?? "", of: self, handler)
    }

    /// The same for a task without a name.
    public nonisolated func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Ends a task. Does nothing for one that has ended.
    public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        ApplicationTasks.end(identifier)
    }
}

extension Notification.Name {
    static let willResignActive = Notification.Name("UIApplicationWillResignActiveNotification")
    static let didEnterBackground = Notification.Name("UIApplicationDidEnterBackgroundNotification")
    static let willEnterForeground = Notification.Name("UIApplicationWillEnterForegroundNotification")
    static let didBecomeActive = Notification.Name("UIApplicationDidBecomeActiveNotification")
}
