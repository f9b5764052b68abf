// Follows the events of a home's device, tells the delegate of its lock, and posts notifications.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Synchronization

enum ProtectedDataWatch {
    /// The homes whose devices are followed now.
    private static let followed = Mutex<Set<String>>([])

    /// Starts to follow the device of the application's home, unless it is followed. Events from now on are posted, even if
    /// connecting to the daemon takes long.
    static func follow(_ application: UIApplication) {
        // Called at each use of a notification's name: only the first reads the list of mounts.
        guard let home = application.home, followed.withLock({ $0.insert(home).inserted }) else { return }
        let beginning = Event.now
        guard let socket = controlSocket(of: home) else { return forget(home) }
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

    // MARK: The daemon's socket

    /// The part of DEVICE/daemon.json that is used here.
    private struct Record: Decodable {
        let socket: String
    }

    /// - Returns: nil if the home's mount or its device is not visible to this process.
    private static func controlSocket(of home: String) -> String? {
        guard let home = Home(around: home)?.path, let mounts = try? MountInfo.all(),
            // Of two mounts at one path, the later one is visible.
            let mount = mounts.last(where: { $0.mountPoint == home }),
            // The source is DEVICE:BUNDLE-ID; a bundle identifier has no colon.
            let colon = mount.source.lastIndex(of: ":"),
            let record = try? HostPath.contents("\(mount.source[..<colon])/daemon.json", limit: 1 << 16)
        else { return nil }
        return try? JSONDecoder().decode(Record.self, from: Data(record)).socket
    }
}
