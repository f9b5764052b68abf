// An installed app, as the device lists it.

public import SandboxModel

/// The value of an entitlement: a truth value, a number, a text, or an array or dictionary of these.
public typealias EntitlementValue = SandboxModel.EntitlementValue

/// An installed app and its containers. The names of the properties are those of its Info.plist and of
/// `simctl listapps`, where these have one.
public struct App: Codable, Hashable, Sendable {
    /// CFBundleIdentifier.
    public var identifier: String
    /// The name under the icon.
    public var name: String
    /// The bundle directory's own name, such as `Notes.app`.
    public var bundle: String
    /// CFBundleShortVersionString.
    public var version: String?
    /// The name of the data container's directory.
    public var container: String
    /// The identifiers of the group containers that the app is entitled to.
    public var groups: [String]
    /// The identifiers of the iCloud containers that the app is entitled to.
    public var iCloud: [String]
    /// The team that the signature names; null without one.
    public var team: String?
    /// The name in the signer's certificate; null where the device has signed the app, or nobody.
    public var signer: String?
    /// The entitlements that the signature covers, by key.
    public var entitlements: [String: EntitlementValue] = [:]
    /// Its extensions, by identifier.
    public var extensions: [AppExtension] = []
    /// The number of the container's user.
    public var owner: UInt32
    /// The path of the app's mount; null when it is not mounted.
    public var mountPoint: String?
    /// Whether it is running now.
    public var running: Bool
    /// Where it is between foreground and suspension; `foreground` for one that does not run.
    public var state: State
    /// Notices about the installation; null but in the reply to ``InstallRequest``.
    public var notices: [String]?

    /// Where an app is between foreground and suspension.
    public enum State: String, Codable, Sendable {
        case foreground, background, suspended
    }

    public init(
        identifier: String, name: String, bundle: String, version: String?, container: String, groups: [String],
        iCloud: [String], owner: UInt32, mountPoint: String?, running: Bool = false,
        state: State = .foreground
    ) {
        self.identifier = identifier
        self.name = name
        self.bundle = bundle
        self.version = version
        self.container = container
        self.groups = groups
        self.iCloud = iCloud
        self.owner = owner
        self.mountPoint = mountPoint
        self.running = running
        self.state = state
    }

    private enum CodingKeys: CodingKey {
        case identifier, name, bundle, version, container, groups, iCloud, team, signer, entitlements, extensions
        case owner, mountPoint, running, state, notices
    }

    /// Writes null where there is nothing, so that a script finds the keys in every answer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(name, forKey: .name)
        try container.encode(bundle, forKey: .bundle)
        try container.encode(version, forKey: .version)
        try container.encode(self.container, forKey: .container)
        try container.encode(groups, forKey: .groups)
        try container.encode(iCloud, forKey: .iCloud)
        try container.encode(team, forKey: .team)
        try container.encode(signer, forKey: .signer)
        try container.encode(entitlements, forKey: .entitlements)
        try container.encode(extensions, forKey: .extensions)
        try container.encode(owner, forKey: .owner)
        try container.encode(mountPoint, forKey: .mountPoint)
        try container.encode(running, forKey: .running)
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(notices, forKey: .notices)
    }
}
