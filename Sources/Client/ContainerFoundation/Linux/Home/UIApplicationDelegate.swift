// UIKit's names for the object that is told of an app's life, and for its base class.

public import Foundation

/// UIKit's base class of applications and their delegates. On Linux there are no touches, keys or windows to respond
/// to.
@MainActor
open class UIResponder: NSObject {
    public nonisolated override init() {
        super.init()
    }
}

/// Is told of the device's lock and of the app's way into the background and back, on the main actor, in a task whose
/// ``ContainerHome/current`` is the application's home.
///
/// ```swift
/// final class AppDelegate: UIResponder, UIApplicationDelegate {
///     func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) { … }
/// }
/// UIApplication.shared.delegate = delegate       // what UIKit does at an app's start
/// ```
///
/// Each method may be left out.
@MainActor
public protocol UIApplicationDelegate: AnyObject {
    /// The device will lock after the grace period.
    func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication)

    /// The device was unlocked, or a lock was cancelled in its grace period.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication)

    /// The application will be inactive.
    func applicationWillResignActive(_ application: UIApplication)

    /// The app is in the background.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// The app comes to the foreground.
    func applicationWillEnterForeground(_ application: UIApplication)

    /// The application is active again. Unlike UIKit's it is not called at the app's start.
    func applicationDidBecomeActive(_ application: UIApplication)
}

extension UIApplicationDelegate {
    public func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) {}

    public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}

    public func applicationWillResignActive(_ application: UIApplication) {}

    public func applicationDidEnterBackground(_ application: UIApplication) {}

    public func applicationWillEnterForeground(_ application: UIApplication) {}

    public func applicationDidBecomeActive(_ application: UIApplication) {}
}
