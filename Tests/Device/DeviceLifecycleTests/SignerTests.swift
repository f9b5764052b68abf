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

    @Test func `no group of the former team stays with an app whose signer changes`() throws {
        let device = try scratch.makeDevice()
        let shared = group("group.com.example.shared")
        let notes = try device.install(app(team: "AAAAAAAAAA", shared))
        let other = "com.example.Other"
        _ = try device.install(app(team: "AAAAAAAAAA", identifier: other, shared))
        let before = (device.apps, scratch.containers)
        let next = try app(by: Self.second, team: "BBBBBBBBBB")
        let demands = SealDemands(replacesSigner: true)
        let refusal = complaint { _ = try device.install(next, demands: demands) }
        #expect(refusal?.kind == .anotherSigner)
        for word in ["group.com.example.shared", other, "uninstall", "BBBBBBBBBB"] {
            #expect(refusal?.message.contains(word) == true, "\(word)")
        }
        #expect(device.apps == before.0 && scratch.containers == before.1)
        // It is nobody else's then.
        try device.uninstall(id(other))
        #expect(try device.install(next, demands: demands).groups == notes.groups)
    }

    @Test func `an app that the device has signed brings no team's group to its successor`() throws {
        let device = try scratch.makeDevice()
        let shared = group("group.com.example.shared")
        _ = try device.install(app(team: "AAAAAAAAAA", identifier: "com.example.Other", shared))
        _ = try device.install(sampleApp, groups: [id("group.com.example.shared")])
        #expect(complaint { _ = try device.install(app(team: "BBBBBBBBBB")) }?.kind == .anotherSigner)
        _ = try device.install(app(team: "AAAAAAAAAA"))
    }

    @Test func `an app is not entitled to more containers than it may have`() throws {
        let device = try scratch.makeDevice()
        let groups = (0..<256).map { id("group.n\($0)") }
        for (asked, cloud) in [(groups + [id("group.more")], []), ([], groups + [id("iCloud.more")])] {
            let refusal = complaint { _ = try device.install(sampleApp, groups: asked, iCloud: cloud) }
            #expect(refusal?.kind == .badRequest && refusal?.message.contains("256") == true)
        }
        #expect(scratch.containers == emptyDevice)
        let app = try device.install(sampleApp, groups: groups)
        #expect(complaint { _ = try device.entitle(app.identifier, groups: [id("group.more")]) }?.kind == .badRequest)
        #expect(complaint { _ = try device.install(sampleApp, groups: [id("group.more")]) }?.kind == .badRequest)
        // Those that it has already are no more.
        #expect(try device.entitle(app.identifier, groups: [groups[7]]) == app)
    }

    @Test func `an app that names a team without its signature is kept out of its groups, and it out of theirs`() throws
    {
        func record(_ signer: AppSignature.Signer) -> InstalledApp {
            InstalledApp(
                identifier: id("com.example.Other"), bundleName: "Other.app", displayName: "Other", version: "1",
                build: "1", executable: nil, sharesDocuments: false,
                signature: AppSignature(signer: signer, team: "AAAAAAAAAA"), bundle: ContainerUUID(),
                data: ContainerUUID(),
                groups: [SharedContainerRecord(identifier: id("group.shared"), uuid: ContainerUUID())], iCloud: [],
                owner: 0, ownerGroup: 0)
        }
        let owner = AppSignature.Signer.owner(AppSignature.OfKey(key: [1], name: "First"))
        for (present, coming, isRefused) in [
            (owner, AppSignature.Signer.nobody, true), (.nobody, owner, true), (.nobody, .nobody, false),
            (owner, owner, false), (owner, .device, false),
        ] {
            let rules = SignerRules(AppRegistry(apps: [record(present)]))
            let signature = AppSignature(signer: coming, team: "AAAAAAAAAA")
            let refusal = complaint {
                try rules.requireOwn([id("group.shared")], of: signature, id("com.example.Notes"))
            }
            #expect((refusal?.kind == .anotherSigner) == isRefused)
            // Both name one team, so that the team's name says nothing.
            if isRefused { #expect(refusal?.message.contains("nobody (ad hoc") == true) }
        }
    }

    // MARK: Entitlements

    @Test(arguments: 8...18) func `what installs is read at the next boot, however deep its entitlements are`(
        levels: Int
    ) throws {
        let nested =
            String(repeating: "<array>", count: levels - 2) + "<string>text</string>"
            + String(repeating: "</array>", count: levels - 2)
        guard let path = try? app("<key>com.example.deep</key>\(nested)") else {
            // The whole list is the first level.
            #expect(levels > 16)
            return
        }
        #expect(levels <= 16)
        let installed: InstalledApp
        do {
            let device = try scratch.makeDevice()
            installed = try device.install(path)
            try device.shutDown()
        }
        #expect(try scratch.boot().apps == [installed])
    }

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

    // S-SEAL-7
    @Test func `a profile expires by the device's clock`() throws {
        let path = try scratch.makeApp("Profiled", "rm -rf _CodeSignature")
        let list = """
            <plist version="1.0"><dict><key>TeamIdentifier</key><array><string>AAAAAAAAAA</string></array>
            <key>ExpirationDate</key><date>\(Date(timeIntervalSinceNow: 86400).formatted(.iso8601))</date>
            <key>ProvisionedDevices</key><array><string>00008030-001C2D3E4F5A6B7C</string></array>
            <key>Entitlements</key><dict><key>application-identifier</key>
            <string>AAAAAAAAAA.com.example.Notes</string></dict></dict></plist>
            """
        try Data(Self.second.pem).write(to: URL(filePath: scratch["apple.pem"]))
        try Data(list.utf8).write(to: URL(filePath: scratch["list"]))
        try shell(
            """
            cd '\(scratch.path)' && openssl cms -sign -nodetach -binary -outform DER -signer apple.pem -in list \
            -out '\(path)/embedded.mobileprovision'
            """)
        let app = try AppDirectory(at: path)
        _ = try BundleSealer(identity: Self.first).seal(app.root, name: app.name) { _ in true }
        let device = try scratch.makeDevice()
        device.clock.advance(by: 2 * 86400 * 1_000_000_000)
        let refusal = complaint { _ = try device.install(path) }
        #expect(refusal?.kind == .invalidEntitlements && refusal?.message.contains("has expired") == true)
        #expect(scratch.containers == emptyDevice)
        // The phones that it names bind no device here.
        device.clock.reset()
        _ = try device.install(path)
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
