// A mounted home as a whole: what it tells of its device at its root.

import Platform
import SandboxModel

/// The root of an app's home that is mounted.
struct Home {
    let path: String

    /// - Parameter path: anything in the home, which need not exist.
    /// - Returns: nil off a mount.
    init?(around path: String) {
        guard let item = MountedItem(path) else { return nil }
        var place = (try? HostPath.resolved(item.path)) ?? item.path
        // The root alone answers this one.
        while Home.attribute(ProtectedData.attributeName, of: place) == nil {
            guard let parent = HostPath.place(of: place)?.directory, parent != place else { return nil }
            place = parent
        }
        self.path = place
    }

    private static func attribute(_ name: String, of place: String) -> [UInt8]? {
        try? AttributeHolder(path: place, following: true).value(of: Array(name.utf8))
    }

    /// Whether files of every class can be opened now.
    var isProtectedDataAvailable: Bool {
        guard let value = Home.attribute(ProtectedData.attributeName, of: path) else { return true }
        return ProtectedData(attributeValue: value) != .unavailable
    }

    /// Bytes that can be stored for a usage; nil where nobody counts them.
    func availableCapacity(for usage: SpaceUsage) -> Int64? {
        Home.attribute(usage.attributeName, of: path).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }
}
