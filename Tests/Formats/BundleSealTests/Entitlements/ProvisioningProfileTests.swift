// Tests of provisioning profiles: a property list in a CMS message, which bounds an app's entitlements.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct ProvisioningProfileTests {
    private static let team = "TEAM123456"
    private static let values: [String: EntitlementValue] = [
        Entitlements.Key.applicationIdentifier: .string("\(team).com.example.Notes"),
        Entitlements.Key.teamIdentifier: .string(team),
        Entitlements.Key.applicationGroups: .array([.string("group.com.example.shared")]),
    ]

    /// The content of a profile.
    private struct Content {
        var identifier = "\(team).com.example.*"
        var expires = Date(timeIntervalSinceNow: 3600)
        var entitlements = """
            <key>com.apple.developer.team-identifier</key><string>\(team)</string>
            <key>com.apple.security.application-groups</key><array><string>group.com.example.shared</string></array>
            """
        var certificate: [UInt8]?

        var list: String {
            let certificates = certificate.map {
                "<key>DeveloperCertificates</key><array><data>\(Data($0).base64EncodedString())</data></array>"
            }
            return """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
                <key>Name</key><string>Notes</string><key>UUID</key><string>0F0E</string>
                <key>TeamIdentifier</key><array><string>\(team)</string></array>
                <key>ExpirationDate</key><date>\(expires.formatted(.iso8601))</date>
                <key>Entitlements</key><dict><key>application-identifier</key><string>\(identifier)</string>\(entitlements)</dict>
                \(certificates ?? "")</dict></plist>
                """
        }
    }

    /// The content in a CMS message, made by openssl(1).
    private func message(_ list: String) throws -> [UInt8] {
        let scratch = Scratch()
        try Data(SigningIdentity(commonName: "Apple").pem).write(to: URL(filePath: scratch["apple.pem"]))
        try Data(list.utf8).write(to: URL(filePath: scratch["list"]))
        try shell(
            """
            cd '\(scratch.path)' && openssl cms -sign -nodetach -binary -outform DER -signer apple.pem -in list -out message
            """)
        return [UInt8](try Data(contentsOf: URL(filePath: scratch["message"])))
    }

    /// The flaw of an app with a profile; nil without one.
    private func flaw(
        _ content: Content, of values: [String: EntitlementValue] = values, _ change: ([UInt8]) -> [UInt8] = { $0 }
    ) throws -> String? {
        let app = try SampleApp.whole()
        try app.write("embedded.mobileprovision", change(message(content.list)))
        return try app.seal(entitlements: values).report().entitlementFlaw
    }

    @Test func `a profile is read`() throws {
        let content = Content(expires: Date(timeIntervalSince1970: 2_000_000_000))
        let profile = try ProvisioningProfile(decoding: message(content.list))
        #expect(profile.name == "Notes" && profile.uuid == "0F0E")
        #expect(profile.teams == [Self.team])
        #expect(profile.expiry == 2_000_000_000)
        #expect(profile.devices == nil)
    }

    @Test func `a profile that allows the entitlements is no flaw`() throws {
        #expect(try flaw(Content()) == nil)
        #expect(try flaw(Content(identifier: "\(Self.team).com.example.Notes")) == nil)
    }

    @Test func `a profile that has expired, or of another app, is a flaw`() throws {
        let name = "embedded.mobileprovision"
        #expect(try flaw(Content(expires: Date(timeIntervalSinceNow: -60))) == "\(name) has expired")
        for identifier in ["\(Self.team).com.example.Other", "\(Self.team).com.other.*"] {
            #expect(
                try flaw(Content(identifier: identifier)) == "\(name) is for another app than com.example.Notes")
        }
        var other = Self.values
        other[Entitlements.Key.teamIdentifier] = .string("OTHER12345")
        other[Entitlements.Key.applicationIdentifier] = .string("OTHER12345.com.example.Notes")
        #expect(try flaw(Content(), of: other)?.contains("is for apps of the team \(Self.team)") == true)
    }

    @Test func `an entitlement that the profile does not have is a flaw, and is named`() throws {
        var more = Self.values
        more[Entitlements.Key.applicationGroups] = .array([.string("group.com.example.other")])
        #expect(try flaw(Content(), of: more)?.contains(Entitlements.Key.applicationGroups) == true)
        more = Self.values
        more["get-task-allow"] = .boolean(true)
        #expect(try flaw(Content(), of: more)?.contains("get-task-allow") == true)
    }

    @Test func `a profile for another signer's certificate is a flaw`() throws {
        let other = try PEM.certificate(of: SampleApp.other)
        let mine = try PEM.certificate(of: SampleApp.mine)
        #expect(try flaw(Content(certificate: other))?.contains("certificate") == true)
        #expect(try flaw(Content(certificate: mine)) == nil)
    }

    @Test func `a profile that is cut or changed is a flaw`() throws {
        #expect(try flaw(Content()) { Array($0.dropLast()) }?.contains("cannot be read") == true)
        #expect(try flaw(Content()) { _ in [] }?.contains("cannot be read") == true)
        #expect(
            try flaw(Content()) { bytes in
                var bytes = bytes
                let place = Array("com.example.*".utf8)
                let start = try! #require(bytes.indices.first { bytes[$0...].starts(with: place) })
                bytes[start] ^= 1
                return bytes
            }?.contains("does not hold") == true)
    }

    /// DER of certificates.
    private enum PEM {
        static func certificate(of identity: SigningIdentity) throws -> [UInt8] {
            let text = String(decoding: identity.certificatePEM, as: UTF8.self)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
            return [UInt8](try #require(Data(base64Encoded: lines.joined())))
        }
    }
}
