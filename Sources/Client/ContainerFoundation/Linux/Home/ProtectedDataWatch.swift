// Follows the events of a home's device, tells the delegate of its lock, and posts notifications.

import AppContainer
import Foundation
import Synchronization

enum ProtectedDataWatch {
    /// The homes whose devices are followed now.
    private static let followed = Mutex<Set<String>>([])

    /// Starts to follow the device of the application's home, unless it is followed. Events from now on are posted,
    /// even if connecting to the daemon takes long.
    static func follow(_ application: UIApplication) {
        // Called at each use of a notification's name: only the first reads the list of mounts.
        guard let home = application.home, followed.withLock({ $0.insert(home).inserted }) else { return }
        let beginning = Event.now
        guard let socket = HomeDevice(of: home)?.socket else { return forget(home) }
        Task.detached {
            // The stream ends with the device, and fails if this user may not use its socket: nothing to post then.
            var events = DeviceClient(socket: socket).events(since: beginning).makeAsyncIterator()
            while let event = try? await events.next() {
                if let name = name(of: event.event) { post(name, by: application) }
            }
            forget(home)
        }
    }

    /// Lets the next use of a notification's name start again, when the device may be on.
    private static func forget(_ home: String) {
        _ = followed.withLock { $0.remove(home) }
    }

    private static func name(of event: Event.Name) -> Notification.Name? {
        switch event {
        case .willBecomeUnavailable: .willBecomeUnavailable
        case .didBecomeAvailable: .didBecomeAvailable
        default: nil
        }
    }

    /// Posts in the order of the events, because the main actor runs jobs of one task in order.
    private static func post(_ name: Notification.Name, by application: UIApplication) {
        DispatchQueue.main.async {
            ContainerHome.$current.withValue(application.home) {
                MainActor.assumeIsolated { tellDelegate(of: application, name) }
                NotificationCenter.default.post(name: name, object: application)
            }
        }
    }

    @MainActor
    private static func tellDelegate(of application: UIApplication, _ name: Notification.Name) {
        switch name {
        case .willBecomeUnavailable: application.delegate?.applicationProtectedDataWillBecomeUnavailable(application)
        default: application.delegate?.applicationProtectedDataDidBecomeAvailable(application)
        }
    }
}
