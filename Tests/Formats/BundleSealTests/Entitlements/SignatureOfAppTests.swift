// The signer, the team and the entitlements of an app, as a verification reports them.

import Foundation
import HashFunctions
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct SignatureOfAppTests {
    private static let team = "TEAM123456"
    private static let values: [String: EntitlementValue] = [
        Entitlements.Key.applicationIdentifier: .string("\(team).com.example.Notes"),
        Entitlements.Key.teamIdentifier: .string(team),
        Entitlements.Key.applicationGroups: .array([.string("group.com.example.shared")]),
        Entitlements.Key.defaultDataProtection: .string("NSFileProtectionComplete"),
    ]

    private static func with(_ key: String, _ value: EntitlementValue?) -> [String: EntitlementValue] {
        var values = values
        values[key] = value
        return values
    }

    /// An app with a Mach-O, whose blobs hold entitlements.
    private func embedded(
        _ values: [String: EntitlementValue], der: [String: EntitlementValue]? = nil, team: String? = team
    ) throws -> SampleApp {
        let app = try SampleApp()
        let information = Array(SampleApp.information("com.example.Notes", executable: "Notes").utf8)
        try app.write("Info.plist", information)
        try app.seal()
        var fixture = MachOFixture()
        fixture.informationList = information
        fixture.resources = try app.read(SealLayout.resourcesPath)
        fixture.team = team
        fixture.entitlements = try EntitlementsPropertyList.encode(Entitlements(values))
        fixture.derEntitlements = EntitlementsDER.encode(Entitlements(der ?? values))
        try app.remove(SealLayout.codeDirectoryPath)
        try app.remove(SealLayout.signaturePath)
        try app.write("Notes", fixture.program { try! CMSSignature.sign($0[0], by: SampleApp.mine) }.bytes)
        return app
    }

    // MARK: Entitlements

    @Test(arguments: [false, true]) func `a signature tells the signer, the team and the entitlements`(
        isEmbedded: Bool
    ) throws {
        let app =
            isEmbedded ? try embedded(Self.values) : try SampleApp.whole().seal(entitlements: Self.values)
        let report = try app.report(trust: SampleApp.trustMine)
        #expect(report.breaks.isEmpty)
        #expect(report.entitlementFlaw == nil)
        let signature = try #require(report.signature)
        #expect(signature.team == Self.team)
        #expect(signature.entitlements == Entitlements(Self.values))
        guard case .owner(let owner) = signature.signer else { return #expect(Bool(false), "nobody has signed it") }
        #expect(owner.name == "Mine")
        #expect(owner.key.count == 32)
    }

    @Test func `a renewed certificate has the same key, another identity has another`() throws {
        func key(_ identity: SigningIdentity) throws -> [UInt8]? {
            let signature = try SampleApp.whole().seal(identity).report().signature
            if case .owner(let owner) = signature?.signer { return owner.key }
            return nil
        }
        #expect(try key(SampleApp.mine) == key(SampleApp.mine))
        #expect(try key(SampleApp.mine) != key(SigningIdentity(commonName: "Mine")))
    }

    @Test func `an app without entitlements has none, and no team`() throws {
        let signature = try #require(try SampleApp.whole().seal().report().signature)
        #expect(signature.entitlements.isEmpty)
        #expect(signature.team == nil)
    }

    @Test(arguments: ["CodeEntitlements", "CodeEntitlementDER"])
    func `entitlements beyond the limit are a flaw, not none`(name: String) throws {
        let path = "_CodeSignature/\(name)"
        let app = try SampleApp.whole().seal(entitlements: Self.values)
        // As a signer of his own might seal it: whole but for the size.
        let large = try app.read(path) + [UInt8](repeating: 0, count: 70 << 10)
        try app.write(path, large)
        let digest = HashFunction.sha256.digest(of: large)
        let directory = try CodeDirectory(decoding: app.read(SealLayout.codeDirectoryPath))
        let slot = name == "CodeEntitlements" ? 5 : 7
        var special: [Int: [UInt8]] = [:]
        for slot in 1...directory.specialSlots { special[slot] = directory.special(slot) }
        special[slot] = digest
        let forged = CodeDirectory(
            identifier: directory.identifier, team: directory.teamIdentifier, special: special,
            code: (directory.codeHash(0), directory.codeLimit))
        try app.write(SealLayout.codeDirectoryPath, forged.bytes)
        try app.write(SealLayout.signaturePath, CMSSignature.sign(forged.bytes, by: SampleApp.mine))
        let report = try app.report()
        #expect(report.breaks.isEmpty)
        #expect(report.signature == nil)
        #expect(report.entitlementFlaw?.contains("64 KiB") == true)
    }

    @Test(arguments: [
        String(repeating: "T", count: 1024), String(repeating: "T", count: 5000), "TE\u{0}AM", "\u{0}",
    ])
    func `a team that no code directory can name is refused before anything is sealed`(team: String) throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: [Entitlements.Key.teamIdentifier: team], format: .binary, options: 0)
        let fault = #expect(throws: SealFault.self) { _ = try SealedEntitlements(propertyList: Array(list)) }
        #expect(fault?.reason.contains(Entitlements.Key.teamIdentifier) == true)
    }

    @Test func `the longest team is sealed and read`() throws {
        var values = Self.values
        values[Entitlements.Key.teamIdentifier] = .string(String(repeating: "T", count: 1023))
        values[Entitlements.Key.applicationIdentifier] = nil
        #expect(try SampleApp.whole().seal(entitlements: values).report().signature?.team?.count == 1023)
    }

    @Test func `entitlements are sealed as a whole`() throws {
        for name in ["_CodeSignature/CodeEntitlements", "_CodeSignature/CodeEntitlementDER"] {
            let app = try SampleApp.whole().seal(entitlements: Self.values)
            try app.flip(name, at: -2)
            #expect(try app.breaks() == ["changed \(name)"])
            try app.remove(name)
            #expect(try app.breaks() == ["missing \(name)"])
        }
        let app = try SampleApp.whole().seal()
        try app.write("_CodeSignature/CodeEntitlements", "<plist/>")
        #expect(try app.breaks() == ["added _CodeSignature/CodeEntitlements"])
    }

    @Test func `a new seal without entitlements drops those of the old one`() throws {
        let app = try SampleApp.whole().seal(entitlements: Self.values).seal()
        #expect(try app.breaks() == [])
        #expect(try app.report().signature?.entitlements.isEmpty == true)
    }

    @Test(arguments: [
        (Entitlements.Key.applicationIdentifier, EntitlementValue.string("\(team).com.example.Other"), "another app"),
        (Entitlements.Key.applicationGroups, .array([.string("../up")]), "no identifier"),
        (Entitlements.Key.applicationGroups, .boolean(true), "not a list"),
        (Entitlements.Key.defaultDataProtection, .string("NSFileProtectionMore"), "no protection class"),
        (Entitlements.Key.teamIdentifier, .string("OTHER"), "another team"),
    ])
    func `entitlements that a device cannot act upon are a flaw`(
        key: String, value: EntitlementValue, words: String
    ) throws {
        let report = try embedded(Self.with(key, value)).report()
        #expect(report.breaks.isEmpty)
        #expect(report.signature == nil)
        #expect(report.entitlementFlaw?.contains(words) == true, "\(report.entitlementFlaw ?? "")")
    }

    @Test func `a property list and DER that disagree are a flaw`() throws {
        let other = Self.with(Entitlements.Key.applicationGroups, nil)
        let report = try embedded(Self.values, der: other).report()
        #expect(report.entitlementFlaw?.hasSuffix("disagree about \(Entitlements.Key.applicationGroups)") == true)
    }

    @Test func `the program of one signer does not take the name of another`() throws {
        let app = try embedded(Self.values)
        var fixture = MachOFixture()
        fixture.informationList = try app.read("Info.plist")
        fixture.resources = try app.read(SealLayout.resourcesPath)
        let programs = [SampleApp.other, SampleApp.mine].map { identity in
            fixture.program { try! CMSSignature.sign($0[0], by: identity) }
        }
        try app.write("Notes", MachOFixture.fat(programs))
        #expect(try app.report().entitlementFlaw?.contains("several signers") == true)
    }

    // MARK: The executable of an Info.plist that was changed

    @Test func `a changed name of the executable is a changed Info.plist and nothing else`() throws {
        for app in [try embedded(Self.values), try SampleApp.whole().seal()] {
            for name in ["Other", "readme.txt", nil] {
                try app.write("Info.plist", SampleApp.information("com.example.Notes", executable: name))
                #expect(try app.breaks() == ["changed Info.plist"], "\(name ?? "none")")
            }
        }
    }
}
