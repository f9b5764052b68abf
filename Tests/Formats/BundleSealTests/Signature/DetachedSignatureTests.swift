// Detached signatures that were changed, exchanged or taken apart; signers; nested code.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct DetachedSignatureTests {
    private static let directory = SealLayout.codeDirectoryPath
    private static let resources = SealLayout.resourcesPath
    private static let signature = SealLayout.signaturePath

    // MARK: Parts

    static let parts = [
        SealChange("CodeResources removed", ["missing \(resources)"]) { try $0.remove(resources) },
        SealChange("CodeResources emptied", ["changed \(resources)"]) { try $0.write(resources, "") },
        SealChange("CodeResources that are none", ["changed \(resources)"]) { try $0.write(resources, "garbage") },
        SealChange("CodeResources with another end", ["changed \(resources)"]) {
            try $0.change(resources) { $0 + [10] }
        },
        SealChange("CodeResources that became a directory", ["missing \(resources)"]) {
            try $0.remove(resources)
            try $0.makeDirectory(resources)
        },
        SealChange("CodeResources that became a link", ["missing \(resources)"]) {
            try $0.move(resources, to: "Extras/.DS_Store")
            try $0.link(resources, to: "../Extras/.DS_Store")
        },
        SealChange("the same resources in another order", ["changed \(resources)"]) { app in
            let list = try unsafe PropertyListSerialization.propertyList(from: Data(app.read(resources)), format: nil)
            for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
                let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
                try app.write(resources, [UInt8](data) + (format == .xml ? [10] : []))
                try #require(app.breaks() == ["changed \(resources)"])
            }
        },
        SealChange("no code directory", ["missing \(directory)"]) { try $0.remove(directory) },
        SealChange("a code directory without bytes", ["changed \(directory)"]) { try $0.write(directory, "") },
        SealChange("a code directory that is none", ["changed \(directory)"]) { try $0.write(directory, "garbage") },
        SealChange("a code directory with more behind it", ["changed \(directory)"]) {
            try $0.change(directory) { $0 + [0] }
        },
        SealChange("a flag of the code directory", ["signature \(signature)"]) { try $0.flip(directory, at: 15) },
        SealChange("the hash of the executable", ["changed Notes", "signature \(signature)"]) {
            try $0.flip(directory, at: -1)
        },
        SealChange("the hash of Info.plist", ["changed Info.plist", "signature \(signature)"]) {
            try $0.flip(directory, at: -33)
        },
        SealChange("the hash of CodeResources", ["changed \(resources)", "signature \(signature)"]) {
            try $0.flip(directory, at: -97)
        },
        SealChange("no hash of CodeResources", ["added \(resources)", "signature \(signature)"]) {
            try $0.change(directory) { $0.dropLast(128) + [UInt8](repeating: 0, count: 32) + $0.suffix(96) }
        },
        SealChange("no signature", ["missing \(signature)"]) { try $0.remove(signature) },
        SealChange("neither", ["missing \(directory)", "missing \(signature)"]) {
            try $0.remove(directory)
            try $0.remove(signature)
        },
        SealChange("an empty directory of the signature", ["missing \(directory)", "missing \(signature)"]) {
            try $0.remove("_CodeSignature")
            try $0.makeDirectory("_CodeSignature")
        },
        SealChange("a signature without bytes", ["signature \(signature)"]) { try $0.write(signature, "") },
        SealChange("a signature that is none", ["signature \(signature)"]) { try $0.write(signature, "garbage") },
        SealChange("a signature cut", ["signature \(signature)"]) {
            try $0.change(signature) { Array($0.dropLast()) }
        },
        SealChange("a byte of the signature's end", ["signature \(signature)"]) { try $0.flip(signature, at: -1) },
        SealChange("a signature over something else", ["signature \(signature)"]) {
            try $0.write(signature, CMSSignature.sign([1, 2, 3], by: SampleApp.mine))
        },
        SealChange("another part", ["added _CodeSignature/extra"]) { try $0.write("_CodeSignature/extra", "") },
        SealChange("another part in a directory", ["added _CodeSignature/a/b"]) {
            try $0.write("_CodeSignature/a/b", "")
        },
        SealChange("a link among the parts", ["added _CodeSignature/extra"]) {
            try $0.link("_CodeSignature/extra", to: "CodeResources")
        },
        SealChange("a file that nobody would seal", ["added _CodeSignature/.DS_Store"]) {
            try $0.write("_CodeSignature/.DS_Store", "")
        },
        SealChange("requirements that are not bound", ["added _CodeSignature/CodeRequirements"]) {
            try $0.write("_CodeSignature/CodeRequirements", "x")
        },
        SealChange("entitlements that are not bound", ["added _CodeSignature/CodeEntitlements"]) {
            try $0.write("_CodeSignature/CodeEntitlements", "x")
        },
    ]

    @Test(arguments: parts) func `every part of the signature is its own`(_ change: SealChange) throws {
        try change.check()
    }

    @Test func `without its directory there is no signature`() throws {
        let app = try SampleApp.whole().seal()
        try app.remove("_CodeSignature")
        #expect(throws: Complaint.self) { try app.breaks() }
        try app.write("_CodeSignature", "a file")
        #expect(
            try app.breaks() == ["missing \(Self.directory)", "missing \(Self.signature)"])
    }

    // MARK: Signers

    private func other() throws -> SampleApp {
        let other = try SampleApp()
        try other.write("Info.plist", SampleApp.information("com.example.Other", executable: "Notes"))
        try other.write("Notes", "the other app's code")
        return try other.seal()
    }

    @Test func `the signature of another app is not this one's`() throws {
        let (app, other) = (try SampleApp.whole().seal(), try other())
        try app.write(Self.directory, other.read(Self.directory))
        let changed = ["changed Info.plist", "changed Notes", "changed \(Self.resources)"]
        #expect(try app.breaks() == changed + ["signature \(Self.signature)"])
        try app.write(Self.signature, other.read(Self.signature))
        #expect(try app.breaks() == changed)
        try app.write(Self.resources, other.read(Self.resources))
        let breaks = try app.breaks()
        #expect(breaks.contains("changed Info.plist") && breaks.contains("added readme.txt"))
        #expect(breaks.contains("added PlugIns/Share.appex/Share"))
    }

    @Test func `any signer will do where nobody is trusted`() throws {
        let app = try SampleApp.whole().seal(SampleApp.other)
        #expect(try app.report().signer == "Other")
        #expect(try app.breaks() == [])
        #expect(try app.breaks(trust: SampleApp.trustMine) == ["untrusted \(Self.signature)"])
        #expect(try app.report(trust: SampleApp.trustMine).signer == nil)
        try app.write(Self.signature, CMSSignature.sign(app.read(Self.directory), by: SampleApp.mine))
        #expect(try app.breaks(trust: SampleApp.trustMine) == [])
        #expect(try app.report(trust: SampleApp.trustMine).signer == "Mine")
        // Another identity of the same name.
        let namesake = SigningIdentity(commonName: "Mine")
        try app.write(Self.signature, CMSSignature.sign(app.read(Self.directory), by: namesake))
        #expect(try app.breaks(trust: SampleApp.trustMine) == ["untrusted \(Self.signature)"])
    }

    @Test func `several certificates can be trusted`() throws {
        let both = try TrustedCertificates(pem: SampleApp.other.certificatePEM + SampleApp.mine.certificatePEM)
        #expect(try SampleApp.whole().seal(SampleApp.other).breaks(trust: both) == [])
        #expect(try SampleApp.whole().seal(SampleApp.mine).breaks(trust: both) == [])
        #expect(try SampleApp.whole().seal(SampleApp.expired).breaks(trust: both) == ["untrusted \(Self.signature)"])
    }

    @Test(arguments: [-7200...(-3600), 3600...7200]) func `a certificate out of its time is a warning`(
        validity: ClosedRange<Int>
    ) throws {
        let identity = SigningIdentity(commonName: "Old", validity: validity)
        let app = try SampleApp.whole().seal(identity)
        for trust in [nil, try TrustedCertificates(pem: identity.certificatePEM)] {
            let report = try app.report(trust: trust)
            #expect(report.isValid)
            #expect(report.signer == "Old")
            #expect(Set(report.warnings) == ["the certificate of Old has expired or is not valid yet"])
        }
        #expect(try app.breaks(trust: SampleApp.trustMine) == ["untrusted \(Self.signature)"])
        #expect(try SampleApp.whole().seal().report().warnings == [])
    }

    // MARK: Nested code

    private static let kit = "Frameworks/Kit.framework"

    static let nested = [
        SealChange("a file of a framework", ["changed \(kit)/data.txt"]) { try $0.flip("\(kit)/data.txt", at: 0) },
        SealChange("the code of a framework", ["changed \(kit)/Kit"]) { try $0.flip("\(kit)/Kit", at: 0) },
        SealChange("the Info.plist of a framework", ["changed \(kit)/Info.plist"]) {
            try $0.change("\(kit)/Info.plist") { $0 + [10] }
        },
        SealChange("a file in a framework", ["added \(kit)/new"]) { try $0.write("\(kit)/new", "") },
        SealChange("no file in a framework", ["missing \(kit)/data.txt"]) { try $0.remove("\(kit)/data.txt") },
        SealChange("the extension's code", ["changed PlugIns/Share.appex/Share"]) {
            try $0.flip("PlugIns/Share.appex/Share", at: 0)
        },
        SealChange("code that is no bundle", ["changed Frameworks/loose.dylib"]) {
            try $0.flip("Frameworks/loose.dylib", at: 0)
        },
        SealChange("code added that is no bundle", ["added Frameworks/new.dylib"]) {
            try $0.write("Frameworks/new.dylib", "")
        },
        SealChange("no framework", ["missing \(kit)"]) { try $0.remove(kit) },
        SealChange("a framework that became a file", ["changed \(kit)", "missing \(kit)"]) {
            try $0.remove(kit)
            try $0.write(kit, "")
        },
        SealChange(
            "a framework that became a link",
            [
                "changed \(kit)", "missing \(kit)", "added Kit/Info.plist", "added Kit/Kit", "added Kit/data.txt",
                "added Kit/\(resources)", "added Kit/\(directory)", "added Kit/\(signature)",
            ]
        ) {
            try $0.move(kit, to: "Kit")
            try $0.link(kit, to: "../Kit")
        },
        SealChange("a framework without its signature", ["missing \(kit)/\(directory)", "missing \(kit)/\(signature)"])
        {
            try $0.remove("\(kit)/_CodeSignature")
        },
        SealChange("a framework with a part of a signature", ["added \(kit)/_CodeSignature/x"]) {
            try $0.write("\(kit)/_CodeSignature/x", "")
        },
        SealChange("a framework changed and signed again", ["changed \(kit)/\(directory)"]) {
            try $0.flip("\(kit)/data.txt", at: 0)
            try $0.seal(SampleApp.mine, inside: kit)
        },
        SealChange("a framework changed and signed by somebody else", ["changed \(kit)/\(directory)"]) {
            try $0.flip("\(kit)/data.txt", at: 0)
            try $0.seal(SampleApp.other, inside: kit)
        },
        SealChange("a framework signed again with nothing changed") { try $0.seal(SampleApp.other, inside: kit) },
        SealChange(
            "a framework that was not there",
            ["Info.plist", "New", resources, directory, signature].map { "added Frameworks/New.framework/\($0)" }
        ) {
            try $0.write(
                "Frameworks/New.framework/Info.plist", SampleApp.information("com.example.New", executable: "New"))
            try $0.write("Frameworks/New.framework/New", "")
            try $0.seal(SampleApp.mine, inside: "Frameworks/New.framework")
        },
        SealChange(
            "two bundles exchanged",
            [
                "changed \(kit)/\(directory)", "changed PlugIns/Share.appex/\(directory)",
            ]
        ) {
            try $0.move(kit, to: "x")
            try $0.move("PlugIns/Share.appex", to: kit)
            try $0.move("x", to: "PlugIns/Share.appex")
        },
        SealChange("an app where no code is looked for", ["changed Extras/Inner.app/Inner"]) {
            try $0.flip("Extras/Inner.app/Inner", at: 0)
        },
        SealChange("such an app's signature", ["changed Extras/Inner.app/\(signature)"]) {
            try $0.flip("Extras/Inner.app/\(signature)", at: -1)
        },
    ]

    @Test(arguments: nested) func `code inside an app is bound by its code directory`(_ change: SealChange) throws {
        try change.check()
    }
}
