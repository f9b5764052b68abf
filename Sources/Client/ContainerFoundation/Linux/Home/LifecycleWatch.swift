// Follows the events of a home's device, and tells an application and its delegate of the way into the background and
// back.

import AppContainer
import Foundation
import Synchronization

enum LifecycleWatch {
    /// Where an application is.
    struct Stay {
        var state = UIApplication.State.active
        /// When the app is suspended at the latest; nil outside the background.
        var deadline: ContinuousClock.Instant?
    }

    /// The homes whose devices are followed now.
    private static let followed = Mutex<Set<String>>([])
    /// By home. Changes on the main actor only.
    private static let stays = Mutex<[String: Stay]>([:])

    static func stay(of application: UIApplication) -> Stay {
        guard let home = application.home else { return Stay() }
        return stays.withLock { $0[home] ?? Stay() }
    }

    /// Starts to follow the device of the application's home, unless it is followed. Events from now on are told, even
    /// if connecting to the daemon takes long.
    static func follow(_ application: UIApplication) {
        guard let home = application.home, followed.withLock({ $0.insert(home).inserted }) else { return }
        let beginning = Event.now
        guard let device = HomeDevice(of: home) else { return forget(home) }
        Task.detached {
            // The stream ends with the device, and fails if this user may not use its socket: nothing to tell then.
            var events = DeviceClient(socket: device.socket).events(since: beginning).makeAsyncIterator()
            while let event = try? await events.next() {
                if event.app == device.app { tell(event, to: application, home) }
            }
            forget(home)
        }
    }

    /// Lets the next use start again, when the device may be on.
    private static func forget(_ home: String) {
        _ = followed.withLock { $0.remove(home) }
    }

    /// In the order of the events, because the main queue is serial.
    private static func tell(_ event: Event, to application: UIApplication, _ home: String) {
        switch (event.event, event.state) {
        case (.entered, "background"?):
            let deadline = ContinuousClock.now + time(remaining: event.remaining)
            post(.willResignActive, by: application)
            move(home, to: Stay(state: .background, deadline: deadline))
            post(.didEnterBackground, by: application)
        case (.entered, "foreground"?):
            post(.willEnterForeground, by: application)
            move(home, to: Stay())
            post(.didBecomeActive, by: application)
        case (.expiring, _):
            DispatchQueue.main.async { ApplicationTasks.expire(of: application) }
        default: break
        }
    }

    /// The time that an event leaves an app in the background, for the seconds that it tells: the record of events is a
    /// file that somebody may have changed.
    static func time(remaining: Double?) -> Duration {
        let seconds = remaining ?? 0
        // A NaN compares as false.
        return .seconds(seconds > 0 ? min(seconds, 86_400) : 0)
    }

    private static func move(_ home: String, to stay: Stay) {
        DispatchQueue.main.async { stays.withLock { $0[home] = stay } }
    }

    private static func post(_ name: Notification.Name, by application: UIApplication) {
        DispatchQueue.main.async {
            ContainerHome.$current.withValue(application.home) {
                MainActor.assumeIsolated { tellDelegate(of: application, name) }
                NotificationCenter.default.post(name: name, object: application)
            }
        }
    }

    @MainActor private static func tellDelegate(of application: UIApplication, _ name: Notification.Name) {
        switch name {
        case .willResignActive: application.delegate?.applicationWillResignActive(application)
        case .didEnterBackground: application.delegate?.applicationDidEnterBackground(application)
        case .willEnterForeground: application.delegate?.applicationWillEnterForeground(application)
        default: application.delegate?.applicationDidBecomeActive(application)
        }
    }
}
