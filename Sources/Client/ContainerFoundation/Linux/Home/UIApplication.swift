// UIKit's names for the availability of protected data, and for its notifications.

public import Foundation
import Synchronization

/// The part of UIKit's `UIApplication` that concerns the device's lock, so that code for iOS compiles on Linux.
///
/// Each home has its own application. The first use of one of the two notification names starts to follow the events of
/// the home's device, until the device shuts down; the next use after that starts again. A restart does not end it.
///
/// ```swift
/// NotificationCenter.default.addObserver(
///     forName: UIApplication.protectedDataWillBecomeUnavailableNotification, object: UIApplication.shared, queue: nil
/// ) { _ in … }
/// ```
///
/// Notifications are posted on the main actor, with the application as their object, in a task whose
/// ``ContainerHome/current`` is its home. An observer of `UIApplication.shared` gets those of its own home's device, an
/// observer without an object those of every device that the process follows. Nothing is posted off a mount, in
/// `run --confine`, and for a user who may not use the daemon's socket; that is no error.
@MainActor
public final class UIApplication: UIResponder {
    nonisolated let home: String?

    nonisolated init(home: String?) {
        self.home = home
        super.init()
    }

    /// Is told what happens to the device and the app, before the notification of the same event is posted. Setting it
    /// starts to follow the events of the home's device, as the use of a notification's name does.
    public weak var delegate: (any UIApplicationDelegate)? {
        didSet {
            guard delegate != nil else { return }
            ProtectedDataWatch.follow(self)
            LifecycleWatch.follow(self)
        }
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

    /// The application of the current home.
    public static var shared: UIApplication { inForce() }

    /// Whether files of every protection class can be opened now: false before the first unlock and while locked, true
    /// during the grace period of a lock, and off a mount.
    public var isProtectedDataAvailable: Bool {
        guard let home else { return true }
        return Home(around: home)?.isProtectedDataAvailable ?? true
    }

    /// The device will lock after the grace period; finish work on protected files before. `lock --now` has no grace
    /// period, so its notification may come after the lock.
    public nonisolated static var protectedDataWillBecomeUnavailableNotification: Notification.Name {
        ProtectedDataWatch.follow(inForce())
        return .willBecomeUnavailable
    }

    /// The device was unlocked, or a lock was cancelled in its grace period.
    public nonisolated static var protectedDataDidBecomeAvailableNotification: Notification.Name {
        ProtectedDataWatch.follow(inForce())
        return .didBecomeAvailable
    }
}

extension Notification.Name {
    static let willBecomeUnavailable = Notification.Name("UIApplicationProtectedDataWillBecomeUnavailable")
    static let didBecomeAvailable = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")
}
