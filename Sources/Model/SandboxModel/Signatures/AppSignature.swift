// The signer of an app, and what the signature entitles it to.

/// The facts of a valid signature that a device keeps of an installed app.
public struct AppSignature: Hashable, Sendable {
    /// By whom an app was signed.
    public enum Signer: Hashable, Sendable {
        /// By the device itself, because the app had no signature when it was installed.
        case device
        /// By nobody: ad hoc.
        case nobody
        /// By the owner of a key.
        case owner(OfKey)
    }

    /// A signer's key and name.
    public struct OfKey: Hashable, Sendable {
        /// SHA-256 of the certificate's SubjectPublicKeyInfo: it stays when the certificate is renewed with the same
        /// key.
        public let key: [UInt8]
        /// The common name of the certificate, for people.
        public let name: String

        public init(key: [UInt8], name: String) {
            self.key = key
            self.name = name
        }
    }

    public let signer: Signer
    /// The team identifier that the signature covers; nil without one.
    public let team: String?
    public let entitlements: Entitlements

    public init(signer: Signer, team: String? = nil, entitlements: Entitlements = Entitlements()) {
        self.signer = signer
        self.team = team
        self.entitlements = entitlements
    }

    /// The name in the signer's certificate, for people; nil where the device has signed the app, or nobody.
    public var signerName: String? { if case .owner(let owner) = signer { owner.name } else { nil } }

    /// The class of files in a new data container to which nothing else gives one.
    public var defaultProtection: ProtectionClass { ((try? entitlements.defaultProtection) ?? nil) ?? .standard }

    /// Whether an app with this signature may take the place of one with another.
    ///
    /// The same team suffices, so that certificates can be renewed; without a team the same key. An app that the device
    /// has signed may be followed by any other. A team that is named without a signature proves nothing: such apps
    /// follow each other only.
    public func mayFollow(_ former: AppSignature) -> Bool {
        switch (former.signer, signer) {
        case (.device, _): true
        case (.nobody, .nobody): former.team == nil || former.team == team
        // A team that was there before cannot be left out.
        case (.owner(let last), .owner(let next)): former.team.map { $0 == team } ?? (next.key == last.key)
        default: false
        }
    }
}
