// The entitlements of an app: what its signature lets it have.

/// The entitlements that a signature covers, by key (Apple, Entitlements).
public struct Entitlements: Hashable, Sendable {
    public let values: [String: EntitlementValue]

    public init(_ values: [String: EntitlementValue] = [:]) {
        self.values = values
    }

    public var isEmpty: Bool { values.isEmpty }

    /// Keys that a device acts upon.
    public enum Key {
        /// The app's identifier, with the prefix of its team: `TEAM.com.example.Notes`.
        public static let applicationIdentifier = "application-identifier"
        public static let teamIdentifier = "com.apple.developer.team-identifier"
        public static let applicationGroups = "com.apple.security.application-groups"
        public static let iCloudContainers = "com.apple.developer.icloud-container-identifiers"
        public static let ubiquityContainers = "com.apple.developer.ubiquity-container-identifiers"
        public static let defaultDataProtection = "com.apple.developer.default-data-protection"
    }

    /// An entitlement whose value a device cannot act upon, as a sentence's end for people.
    public struct Flaw: Error, Hashable, Sendable {
        public let reason: String

        public init(_ reason: String) {
            self.reason = reason
        }
    }

    // MARK: Values that a device acts upon

    /// - Returns: nil without the entitlement.
    public var applicationIdentifier: String? {
        get throws(Flaw) { try text(Key.applicationIdentifier) }
    }

    /// The team, as the entitlement names it.
    /// - Returns: nil without the entitlement.
    public var teamIdentifier: String? {
        get throws(Flaw) { try text(Key.teamIdentifier) }
    }

    /// The app groups, each once, in their order.
    public var groups: [ContainerIdentifier] {
        get throws(Flaw) { try identifiers([Key.applicationGroups]) }
    }

    /// The iCloud containers, each once, in their order: of CloudKit first, then those of documents.
    public var iCloudContainers: [ContainerIdentifier] {
        get throws(Flaw) { try identifiers([Key.iCloudContainers, Key.ubiquityContainers]) }
    }

    /// The class of new files where neither the call nor the directory gives one.
    /// - Returns: nil without the entitlement.
    public var defaultProtection: ProtectionClass? {
        get throws(Flaw) {
            guard let name = try text(Key.defaultDataProtection) else { return nil }
            guard let protection = ProtectionClass(foundationName: name) else {
                throw Flaw("\(Key.defaultDataProtection) names no protection class: \(Array(name.utf8).shown)")
            }
            return protection
        }
    }

    private func text(_ key: String) throws(Flaw) -> String? {
        guard let value = values[key] else { return nil }
        guard case .string(let text) = value, !text.isEmpty else { throw Flaw("\(key) is not a text") }
        return text
    }

    /// The limit of an app's groups, and of its iCloud containers, many times that of real apps: each is a directory of
    /// the device.
    public static let mostContainers = 256

    private func identifiers(_ keys: [String]) throws(Flaw) -> [ContainerIdentifier] {
        var found: [ContainerIdentifier] = []
        for key in keys {
            guard let value = values[key] else { continue }
            guard let texts = value.strings else { throw Flaw("\(key) is not a list of texts") }
            for text in texts {
                guard let identifier = ContainerIdentifier(text) else {
                    let flaw = ContainerIdentifier.flaw(of: text)?.description ?? ""
                    throw Flaw("\(key) has \(Array(text.utf8).shown), which is no identifier: \(flaw)")
                }
                guard !found.contains(identifier) else { continue }
                guard found.count < Entitlements.mostContainers else {
                    throw Flaw("\(key) makes more than \(Entitlements.mostContainers) containers")
                }
                found.append(identifier)
            }
        }
        return found
    }

    // MARK: Bounds

    /// The first key whose value a provisioning profile does not allow; nil if it allows all.
    ///
    /// A profile allows a value that it has, each element of a list that it has, and every text that begins with its
    /// own where that ends with `*` (Apple, TN3125).
    public func firstKey(notAllowedBy profile: Entitlements) -> String? {
        values.keys.sorted().first { key in
            guard let allowed = profile.values[key] else { return true }
            return !Entitlements.allows(allowed, values[key]!)
        }
    }

    private static func allows(_ allowed: EntitlementValue, _ value: EntitlementValue) -> Bool {
        switch (allowed, value) {
        case (.string(let pattern), .string(let text)): matches(pattern, text)
        case (.array(let allowed), .array(let values)):
            values.allSatisfy { value in allowed.contains { allows($0, value) } }
        case (.array(let allowed), let value): allowed.contains { allows($0, value) }
        case (let allowed, .array(let values)): values.allSatisfy { allows(allowed, $0) }
        case (.dictionary(let allowed), .dictionary(let values)):
            values.allSatisfy { key, value in allowed[key].map { allows($0, value) } ?? false }
        // An app may renounce what it is allowed.
        case (.boolean(let allowed), .boolean(let value)): allowed || !value
        default: allowed == value
        }
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        guard pattern.hasSuffix("*") else { return pattern == text }
        return text.hasPrefix(pattern.dropLast())
    }
}
