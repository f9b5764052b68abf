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
            "added PATH", or "signature PATH" where the signature does not hold. Apps signed by Apple's tools are \
            understood too. A certificate that has expired is a warning.

            Example:
              appcontainer verify Notes.app --trust ~/Developer.crt
            """)

    @Argument(help: "The .app directory.", completion: .directory)
    var app: String
    @Option(help: "A PEM file with certificates: one has to be the signer's, or lead to it. Else any signer will do.")
    var trust: String?
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        let trusted = try trust.map(SealFiles.trusted)
        let app = try AppDirectory(at: self.app)
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
        } else if report.isValid {
            try Output.line("valid")
        } else {
            try Output.lines(report.breaks.map { "\($0.kind.rawValue) \($0.path)".onOneLine })
        }
        guard report.isValid else { throw ExitCode(Complaint.Kind.sealBroken.exitCode) }
    }

    /// The answer in JSON. `signer` is null, not left out, if there is none.
    private struct Answer: Encodable {
        struct Break: Encodable {
            /// The kind is one of `changed`, `missing`, `added` and `signature`.
            let kind, path: String
        }

        let valid: Bool
        let breaks: [Break]
        let warnings: [String]
        /// The name in the signer's certificate.
        let signer: String?

        init(_ report: SealReport) {
            valid = report.isValid
            breaks = report.breaks.map { Break(kind: $0.kind.rawValue, path: $0.path) }
            warnings = report.warnings
            signer = report.signer
        }

        private enum Key: CodingKey {
            case valid, breaks, warnings, signer
        }

        /// Written by hand: the synthesized method leaves a nil `signer` out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(valid, forKey: .valid)
            try container.encode(breaks, forKey: .breaks)
            try container.encode(warnings, forKey: .warnings)
            try container.encode(signer, forKey: .signer)
        }
    }
}
