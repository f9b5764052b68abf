// Following the events of a home's device, and posting those that concern its lock.

import AppContainer
import Foundation
import Platform
import SandboxModel
import Synchronization

enum ProtectedDataWatch {
    /// The homes that are followed now.
    private static let followed = Mutex<Set<String>>([])

    /// Begins to follow the device of the application's home, unless that is under way. What happens from now on is
    /// posted, however long it takes until the daemon is reached.
    static func follow(_ application: UIApplication) {
        // Every naming of a notification comes here: looking at the mounts is for the first of them.
        guard let home = application.home, followed.withLock({ $0.insert(home).inserted }) else { return }
        let beginning = Event.now
        guard let socket = controlSocket(of: home) else { return forget(home) }
        Task.detached {
            // It ends with the device, and fails where nobody may speak to it: then there is nothing to tell.
            var events = DeviceClient(socket: socket).events(since: beginning).makeAsyncIterator()
            while let event = try? await events.next() {
                if let name = name(of: event.event) { post(name, by: application) }
            }
            forget(home)
        }
    }

    /// The next naming of a notification begins anew: then the device may be on.
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

    /// In the order of the events: the main actor takes up what is enqueued from one task in turn.
    private static func post(_ name: Notification.Name, by application: UIApplication) {
        DispatchQueue.main.async {
            ContainerHome.$current.withValue(application.home) {
                NotificationCenter.default.post(name: name, object: application)
            }
        }
    }

    // MARK: Where the daemon listens

    /// What DEVICE/daemon.json tells, of which this is a part.
    private struct Record: Decodable {
        let socket: String
    }

    /// - Returns: nil where the home is on no mount that this process sees, or its device on no host that it sees.
    private static func controlSocket(of home: String) -> String? {
        guard let home = Home(around: home)?.path, let mounts = try? MountInfo.all(),
            // Of two at one place the later one is seen.
            let mount = mounts.last(where: { $0.mountPoint == home }),
            // DEVICE:BUNDLE-ID, and a bundle identifier has no colon.
            let colon = mount.source.lastIndex(of: ":"),
            let record = try? HostPath.contents("\(mount.source[..<colon])/daemon.json", limit: 1 << 16)
        else { return nil }
        return try? JSONDecoder().decode(Record.self, from: Data(record)).socket
    }
}
