// appcontainer verify: verifies the seal of an app.

import ArgumentParser
import BackingStore
import BundleSeal
import Platform
import SandboxModel

/// Works in this process on a directory of the host; no device is involved. The breaks are the command's answer, so
/// they go to standard output, before exit code 37.
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold an app against its seal.",
        discussion: """
            Prints "valid", or one line for each break and ends with exit code 37: "changed PATH", "missing PATH", \
            "added PATH", "signature PATH" where the signature does not hold, or "untrusted PATH" where --trust does \
            not name its signer. Entitlements that disagree with each other, with the app or with its provisioning \
            profile are told in one line, with exit code 53. Apps signed by Apple's tools are understood too. A \
            certificate that has expired is a warning.

            Example:
              appcontainer verify Notes.app --trust ~/Developer.crt
            """)

    @Argument(help: "The .app directory, or the .appex of an extension.", completion: .directory)
    var app: String
    @Option(
        help: "A PEM file with certificates: one has to be the signer's, or lead to it. Else any signer will do.",
        completion: .file())
    var trust: String?
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        let trusted = try trust.map(SealFiles.trusted)
        let app = try AppDirectory(at: self.app, takesExtension: true)
        var verification = try SealVerification(of: app.root, name: app.name, trust: trusted)
        let total = verification.bytes
        try working("verifying") { (report) throws(Complaint) in
            var done: Int64 = 0
            let finished = try Complaint.wrap("cannot verify \(self.app)") { () throws(SystemError) in
                try verification.finish { count in
                    done += count
                    return report(DeviceProgress(unit: .bytes, completed: min(done, total), total: total))
                }
            }
            guard finished else { throw Complaint.cancelled }
        }
        let report = verification.report
        for warning in report.warnings { StandardError.warn("\(self.app): \(warning)") }
        if answer.json {
            try Output.json(Answer(report))
        } else if !report.isValid {
            try Output.lines(report.breaks.map { "\($0.kind.rawValue) \($0.path)".onOneLine })
        } else if report.entitlementFlaw == nil {
            try Output.line("valid")
        }
        guard report.isValid else { throw ExitCode(Complaint.Kind.sealBroken.exitCode) }
        if let flaw = report.entitlementFlaw { throw Complaint(.invalidEntitlements, "\(self.app): \(flaw)") }
    }

    /// The answer in JSON. A key without a value is null, not left out.
    private struct Answer: Encodable {
        struct Break: Encodable {
            /// The kind is one of `changed`, `missing`, `added`, `signature` and `untrusted`.
            let kind, path: String
        }

        struct Profile: Encodable {
            let name, uuid: String
            let teams: [String]
            /// Seconds since 1970.
            let expires: Int64
            /// null for all devices.
            let devices: [String]?
        }

        struct Extension: Encodable {
            let name: String
            let team: String?
            let entitlements: [String: EntitlementValue]

            init(_ part: SealedExtension) {
                name = part.name.text
                team = part.facts.signature?.team
                entitlements = part.facts.signature?.entitlements.values ?? [:]
            }

            private enum Key: CodingKey { case name, team, entitlements }

            /// Written by hand, as below.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(name, forKey: .name)
                try container.encode(team, forKey: .team)
                try container.encode(entitlements, forKey: .entitlements)
            }
        }

        /// Whether the seal holds, and the entitlements have no flaw.
        let valid: Bool
        let breaks: [Break]
        let warnings: [String]
        /// The name in the signer's certificate.
        let signer: String?
        /// The team that the signature names.
        let team: String?
        /// The entitlements that the signature covers, by key.
        let entitlements: [String: EntitlementValue]?
        /// The flaw of the entitlements.
        let flaw: String?
        let profile: Profile?
        /// The app extensions, by the names of their bundles.
        let extensions: [Extension]

        init(_ report: SealReport) {
            valid = report.isValid && report.entitlementFlaw == nil
            team = report.signature?.team
            entitlements = report.signature?.entitlements.values
            flaw = report.entitlementFlaw
            profile = report.profile.map {
                Profile(name: $0.name, uuid: $0.uuid, teams: $0.teams, expires: $0.expiry, devices: $0.devices)
            }
            extensions = report.isValid ? report.extensions.map(Extension.init) : []
            breaks = report.breaks.map { Break(kind: $0.kind.rawValue, path: $0.path) }
            warnings = report.warnings
            signer = report.signer
        }

        private enum Key: CodingKey {
            case valid, breaks, warnings, signer, team, entitlements, flaw, profile, extensions
        }

        /// Written by hand: the synthesized method leaves a nil value out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(valid, forKey: .valid)
            try container.encode(breaks, forKey: .breaks)
            try container.encode(warnings, forKey: .warnings)
            try container.encode(signer, forKey: .signer)
            try container.encode(team, forKey: .team)
            try container.encode(entitlements, forKey: .entitlements)
            try container.encode(flaw, forKey: .flaw)
            try container.encode(profile, forKey: .profile)
            try container.encode(extensions, forKey: .extensions)
        }
    }
}
