// By whose signature an app may follow another, and what its entitlements give it.

import BackingStore
import BundleSeal
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct SignerTests {
    private let scratch = Scratch()
    private static let first = SigningIdentity(commonName: "First")
    private static let second = SigningIdentity(commonName: "Second")

    /// An app of a team, signed with one of its certificates.
    private func app(
        by signer: SigningIdentity = first, team: String? = nil, identifier: String = "com.example.Notes",
        _ more: String = ""
    ) throws -> String {
        let path = try scratch.makeApp("App-\(UUID().uuidString)", identifier: identifier)
        let app = try AppDirectory(at: path)
        let name = team.map { "<key>com.apple.developer.team-identifier</key><string>\($0)</string>" } ?? ""
        let list = Array("<plist version=\"1.0\"><dict>\(name)\(more)</dict></plist>".utf8)
        let sealer = BundleSealer(identity: signer, entitlements: try SealedEntitlements(propertyList: list))
        _ = try sealer.seal(app.root, name: app.name) { _ in true }
        return path
    }

    private func group(_ identifier: String) -> String {
        "<key>com.apple.security.application-groups</key><array><string>\(identifier)</string></array>"
    }

    // MARK: Updates

    @Test func `an update by another key is refused and changes nothing`() throws {
        let device = try scratch.makeDevice()
        let installed = try device.install(app())
        let before = scratch.containers
        for other in [try app(by: Self.second), sampleApp] {
            let refusal = complaint { _ = try device.install(other) }
            #expect(refusal?.kind == .anotherSigner)
            #expect(refusal?.message.contains("\n") == false)
        }
        #expect(device.apps == [installed])
        #expect(scratch.containers == before)
        _ = try device.install(app())
        _ = try device.install(app(by: Self.second), demands: SealDemands(replacesSigner: true))
        #expect(try device.app(installed.identifier).signature?.signer != installed.signature?.signer)
    }

    @Test func `one team may renew its certificate, another team is refused`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(app(team: "AAAAAAAAAA"))
        _ = try device.install(app(by: Self.second, team: "AAAAAAAAAA"))
        #expect(complaint { _ = try device.install(app(team: "BBBBBBBBBB")) }?.kind == .anotherSigner)
        // Without its team it is nobody's of that team.
        #expect(complaint { _ = try device.install(app()) }?.kind == .anotherSigner)
    }

    @Test func `an app that the device has signed accepts any successor`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp)
        _ = try device.install(app(team: "AAAAAAAAAA"))
    }

    @Test func `a group of another team is refused`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(app(team: "AAAAAAAAAA", group("group.com.example.shared")))
        let other = "com.example.Other"
        let refused = try app(team: "BBBBBBBBBB", identifier: other, group("group.com.example.shared"))
        #expect(complaint { _ = try device.install(refused) }?.kind == .anotherSigner)
        _ = try device.install(app(team: "BBBBBBBBBB", identifier: other))
        let entitling = complaint {
            _ = try device.entitle(id(other), groups: [id("group.com.example.shared")])
        }
        #expect(entitling?.kind == .anotherSigner)
        _ = try device.install(
            app(by: Self.second, team: "AAAAAAAAAA", identifier: "com.example.Third", group("group.com.example.shared"))
        )
    }

    // MARK: Entitlements

    @Test func `the entitlements make the containers, with no option given`() throws {
        let device = try scratch.makeDevice()
        let cloud =
            "<key>com.apple.developer.icloud-container-identifiers</key><array><string>iCloud.a.b</string></array>"
        let app = try device.install(app(group("group.com.example.shared") + cloud))
        #expect(app.groups.map(\.identifier.text) == ["group.com.example.shared"])
        #expect(app.iCloud.map(\.identifier.text) == ["iCloud.a.b"])
    }

    @Test func `the default class is given by the container and its directories`() throws {
        let device = try scratch.makeDevice()
        let name = "com.apple.developer.default-data-protection"
        let app = try device.install(app("<key>\(name)</key><string>NSFileProtectionComplete</string>"))
        func classes() throws -> [String] {
            let data = try device.backingPath(of: app.identifier, .data)
            return try ["", "Documents", "Library", "Library/Caches", "Library/Preferences", "tmp"].map { directory in
                let value = try AttributeHolder(path: "\(data)/\(directory)", following: false)
                    .value(of: Array(ProtectionClass.attributeName.utf8))
                return String(decoding: value, as: UTF8.self)
            }
        }
        let complete = [String](repeating: "NSFileProtectionComplete", count: 6)
        #expect(try classes() == complete)
        // The container was made before: what a later signature says does not matter.
        _ = try device.install(self.app())
        #expect(try classes() == complete)
    }

    @Test func `entitlements that cannot be acted upon install nothing`() throws {
        let device = try scratch.makeDevice()
        let other = "<key>application-identifier</key><string>AAAAAAAAAA.com.example.Other</string>"
        let refusal = complaint { _ = try device.install(app(other)) }
        #expect(refusal?.kind == .invalidEntitlements)
        #expect(scratch.containers == emptyDevice)
    }

    @Test func `the registry keeps the signature`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(app(team: "AAAAAAAAAA", group("group.com.example.shared")))
        #expect(try device.directory.apps() == [app])
        #expect(app.signature?.team == "AAAAAAAAAA")
    }
}
