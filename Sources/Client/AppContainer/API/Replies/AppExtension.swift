// An app extension, as the device lists it with its app.

/// An extension of an installed app. Commands and requests take its identifier as they take an app's.
public struct AppExtension: Codable, Hashable, Sendable {
    /// CFBundleIdentifier, which begins with that of its app.
    public var identifier: String
    /// The name by which `run --extension` knows it: that of its bundle, without `.appex`.
    public var name: String
    /// The name of its data container's directory.
    public var container: String
    /// The identifiers of the group containers that it is entitled to.
    public var groups: [String]
    /// The identifiers of the iCloud containers that it is entitled to.
    public var iCloud: [String]
    /// The entitlements that its signature covers, by key.
    public var entitlements: [String: EntitlementValue]
    /// The path of its mount; null when it is not mounted.
    public var mountPoint: String?
    /// Whether it is running now.
    public var running: Bool
    /// Where it is between foreground and suspension; `foreground` for one that does not run.
    public var state: App.State

    public init(
        identifier: String, name: String, container: String, groups: [String], iCloud: [String],
        entitlements: [String: EntitlementValue], mountPoint: String?, running: Bool, state: App.State
    ) {
        self.identifier = identifier
        self.name = name
        self.container = container
        self.groups = groups
        self.iCloud = iCloud
        self.entitlements = entitlements
        self.mountPoint = mountPoint
        self.running = running
        self.state = state
    }

    private enum CodingKeys: CodingKey {
        case identifier, name, container, groups, iCloud, entitlements, mountPoint, running, state
    }

    /// Writes null where there is nothing, so that a script finds the keys in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(name, forKey: .name)
        try container.encode(self.container, forKey: .container)
        try container.encode(groups, forKey: .groups)
        try container.encode(iCloud, forKey: .iCloud)
        try container.encode(entitlements, forKey: .entitlements)
        try container.encode(mountPoint, forKey: .mountPoint)
        try container.encode(running, forKey: .running)
        try container.encode(state, forKey: .state)
    }
}
