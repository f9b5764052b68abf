// The state of a mounted home's device, read from attributes of the home's root.

import Platform
import SandboxModel

/// The root of a mounted home.
struct Home {
    let path: String

    /// - Parameter path: any path in the home; it need not exist.
    /// - Returns: nil off a mount.
    init?(around path: String) {
        guard let item = MountedItem(path) else { return nil }
        var place = (try? HostPath.resolved(item.path)) ?? item.path
        // Only the root has this attribute.
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

    /// Bytes available for a usage; nil if the mount does not report them.
    func availableCapacity(for usage: SpaceUsage) -> Int64? {
        Home.attribute(usage.attributeName, of: path).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }
}
