// Whether files that need the device unlocked can be read, and the news of it, by the names that UIKit has for them.

public import Foundation
import Synchronization

/// The app, as far as its device's lock concerns it: UIKit's names, so that code that asks `UIApplication` on iOS asks
/// it on Linux too, where there is no UIKit.
///
/// Each home has an application of its own. Naming one of the two notifications begins to follow the events of the home's
/// device, once and for as long as the device is on. After a shutdown it begins with the next naming; a restart of the device
/// does not end it:
///
/// ```swift
/// NotificationCenter.default.addObserver(
///     forName: UIApplication.protectedDataWillBecomeUnavailableNotification, object: UIApplication.shared, queue: nil
/// ) { _ in … }
/// ```
///
/// They are posted on the main actor, with the application as their object, in a task whose ``ContainerHome/current`` is
/// its home. So an observer of `UIApplication.shared` hears of its own home's device, and one without an object of every
/// device that is followed in the process. Off a mount, in `run --confine`, and for a user who may not speak to the
/// device's daemon nothing is posted, and that is no error.
@MainActor
public final class UIApplication: Sendable {
    nonisolated let home: String?

    nonisolated init(home: String?) {
        self.home = home
    }

    private nonisolated static let known = Mutex<[String?: UIApplication]>([:])

    nonisolated static func inForce() -> UIApplication {
        let home = ContainerHome.path
        return known.withLock { known in
            if let application = known[home] { return application }
            let application = UIApplication(home: home)
            known[home] = application
            return application
        }
    }

    /// The application of the home that is in force.
    public static var shared: UIApplication { inForce() }

    /// Whether files of every protection class can be opened now: false from the lock on, and before the first unlock.
    /// True off a mount. While a lock is announced, and not there yet, it is true still.
    public var isProtectedDataAvailable: Bool {
        guard let home else { return true }
        return Home(around: home)?.isProtectedDataAvailable ?? true
    }

    /// The device is about to be locked: what needs it unlocked is to be put away within the grace period. After
    /// `lock --now` there is none, and the news may come later than the lock.
    public nonisolated static var protectedDataWillBecomeUnavailableNotification: Notification.Name {
        ProtectedDataWatch.follow(inForce())
        return .willBecomeUnavailable
    }

    /// The device is unlocked, or a lock that was announced was cancelled.
    public nonisolated static var protectedDataDidBecomeAvailableNotification: Notification.Name {
        ProtectedDataWatch.follow(inForce())
        return .didBecomeAvailable
    }
}

extension Notification.Name {
    static let willBecomeUnavailable = Notification.Name("UIApplicationProtectedDataWillBecomeUnavailable")
    static let didBecomeAvailable = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")
}
