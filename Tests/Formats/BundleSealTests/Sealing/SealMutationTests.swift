// Random changes of seals, certificates and property lists: none crashes the process, and none is valid.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct SealMutationTests {
    /// Bytes with one change or a few: flipped, cut, doubled, exchanged, or replaced by text that breaks parsers.
    private func mutate(_ bytes: [UInt8], _ chance: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let pieces = [
            "<array>", "<dict>", "</dict>", "<true/>", "<data>", "<key>", "&#0;", "&amp;", "-->", "<!--", "\u{0}", "%n",
            "\u{FF}", "-----", "CodeResources", "99999999999999999999",
        ]
        for _ in 0...Int.random(in: 0..<3, using: &chance) {
            guard !bytes.isEmpty else { return Array(pieces.randomElement(using: &chance)!.utf8) }
            let start = Int.random(in: 0..<bytes.count, using: &chance)
            let end = min(bytes.count, start + Int.random(in: 1...16, using: &chance))
            switch Int.random(in: 0..<8, using: &chance) {
            case 0: bytes[start] = chance.bytes(1)[0]
            case 1, 2: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 3: bytes.removeSubrange(start..<end)
            case 4: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 5: bytes.insert(contentsOf: pieces.randomElement(using: &chance)!.utf8, at: start)
            case 6: bytes[start] = [0, 0x7F, 0x80, 0xFF, 0x30, 0x04].randomElement(using: &chance)!
            default: bytes = Array(bytes[..<start])
            }
        }
        return bytes
    }

    /// Calls a body with random changes of bytes, never with the bytes themselves.
    private func each(
        _ count: Int, of bytes: [UInt8], _ body: (UInt64, [UInt8]) throws -> Void
    ) rethrows {
        for seed in 1...UInt64(count) {
            var chance = SeededGenerator(seed: seed)
            let changed = mutate(bytes, &chance)
            if changed != bytes { try body(seed, changed) }
        }
    }

    /// The CodeResources of a small app.
    private func resources() throws -> [UInt8] {
        let app = try SampleApp.whole()
        try app.remove("Extras")
        return try app.seal().read(SealLayout.resourcesPath)
    }

    private func binary(_ list: [UInt8]) throws -> [UInt8] {
        let value = try unsafe PropertyListSerialization.propertyList(from: Data(list), format: nil)
        return [UInt8](try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0))
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `changed resources are understood or refused`(isBinary: Bool) throws {
        let whole = try isBinary ? binary(resources()) : resources()
        var understood = 0
        each(2000, of: whole) { seed, bytes in
            guard let resources = try? CodeResources(decoding: bytes) else { return }
            understood += 1
            // A decoded list can be encoded and used.
            if let encoded = try? resources.encoded() {
                #expect((try? CodeResources(decoding: encoded)) != nil, "seed \(seed)")
            }
            _ = try? ResourceRules(resources.sealedRules).rule(for: "en.lproj/a")
        }
        #expect((100..<1900).contains(understood), "\(understood) of 2000 were understood")
    }

    @Test func `a name of two normalizations in one list is one name`() throws {
        let hash = "<data>AAAA</data>"
        let list =
            "<plist><dict><key>files</key><dict><key>\u{E9}</key>\(hash)<key>e\u{301}</key>\(hash)</dict></dict></plist>"
        for bytes in [Array(list.utf8), try binary(Array(list.utf8))] {
            #expect((try? CodeResources(decoding: bytes))?.files.count ?? 1 == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a changed Info plist is understood or refused`(isBinary: Bool) throws {
        let list = Array(
            SampleApp.information(
                "com.example.Notes", executable: "Notes",
                more: "<key>CFBundleVersion</key><string>1.2</string><key>UIFileSharingEnabled</key><true/>"
            ).utf8)
        var understood = 0
        try each(2000, of: isBinary ? binary(list) : list) { seed, bytes in
            do throws(Complaint) {
                let information = try BundleInformation(decoding: bytes, bundleName: "Notes.app")
                understood += 1
                #expect(!information.identifier.text.isEmpty, "seed \(seed)")
            } catch {
                #expect(!error.message.contains("\n"), "seed \(seed)")
            }
        }
        #expect((100..<1990).contains(understood), "\(understood) of 2000 were understood")
    }

    // MARK: Signatures

    @Test(.timeLimit(.minutes(1))) func `a changed signature holds for nothing else, and for nobody else`() throws {
        let content = Array("the code directory".utf8)
        let plain = try CMSSignature.sign(content, by: SampleApp.mine)
        let attributed = try CMSSignature.sign(content, by: SampleApp.mine, attribute: [1, 2, 3])
        for der in [plain, attributed] {
            each(1200, of: der) { seed, changed in
                #expect(throws: CMSSignature.Fault.self, "seed \(seed)") {
                    try CMSSignature.verify(changed, over: content + [0], trust: nil)
                }
                _ = try? CMSSignature.verify(changed, over: content, trust: nil)
                // Bytes that are not signed may differ, but the signer is the same.
                if let verified = try? CMSSignature.verify(changed, over: content, trust: SampleApp.trustMine) {
                    #expect(verified.signer == "Mine", "seed \(seed)")
                    #expect(verified.codeDirectoryHashes == (der == plain ? nil : [1, 2, 3]), "seed \(seed)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `changed PEM text is understood or refused`() throws {
        let two = SampleApp.other.certificatePEM
        let content: [UInt8] = [1, 2, 3]
        try each(2000, of: SampleApp.mine.pem + two) { seed, bytes in
            if let identity = try? SigningIdentity(pem: bytes) {
                // A key that was read matches its certificate.
                let der = try CMSSignature.sign(content, by: identity)
                #expect(throws: Never.self, "seed \(seed)") {
                    try CMSSignature.verify(der, over: content, trust: nil)
                }
            }
            _ = try? TrustedCertificates(pem: bytes)
        }
        let mine = try CMSSignature.sign(content, by: SampleApp.mine)
        each(2000, of: two) { seed, bytes in
            guard let trust = try? TrustedCertificates(pem: bytes) else { return }
            #expect(throws: CMSSignature.Fault.self, "seed \(seed)") {
                try CMSSignature.verify(mine, over: content, trust: trust)
            }
        }
    }

    @Test(arguments: ["", "garbage", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"])
    func `a malformed PEM text is neither an identity nor a certificate`(text: String) {
        #expect(throws: SealFault.self) { try SigningIdentity(pem: Array(text.utf8)) }
        #expect(throws: SealFault.self) { try TrustedCertificates(pem: Array(text.utf8)) }
    }

    @Test func `a key without its own certificate is no identity, and one without a key neither`() throws {
        func key(_ identity: SigningIdentity) -> [UInt8] {
            Array(identity.pem.prefix(identity.pem.count - identity.certificatePEM.count))
        }
        let (mine, other) = (SampleApp.mine, SampleApp.other)
        #expect(throws: SealFault.self) { try SigningIdentity(pem: mine.certificatePEM) }
        #expect(throws: SealFault.self) { try SigningIdentity(pem: key(mine)) }
        #expect(throws: SealFault.self) { try SigningIdentity(pem: key(mine) + other.certificatePEM) }
        // In any order, with others.
        let read = try SigningIdentity(pem: other.certificatePEM + mine.certificatePEM + key(mine))
        #expect(read.certificateHash == mine.certificateHash)
        #expect(throws: SealFault.self) { try TrustedCertificates(pem: key(mine)) }
        let scratch = Scratch()
        try Data(key(mine)).write(to: URL(filePath: scratch["key"]))
        try shell("openssl pkcs8 -topk8 -in '\(scratch["key"])' -passout pass:secret -out '\(scratch["locked"])'")
        let locked = [UInt8](try Data(contentsOf: URL(filePath: scratch["locked"])))
        #expect(throws: SealFault.self) { try SigningIdentity(pem: locked + mine.certificatePEM) }
    }

    // MARK: Whole seals

    @Test(.timeLimit(.minutes(1))) func `a seal of which any part was changed is not valid`() throws {
        let app = try SampleApp()
        try app.write("Info.plist", SampleApp.information("a.b", executable: nil))
        try app.write("a", "a")
        try app.seal()
        let names = [SealLayout.resourcesPath, SealLayout.codeDirectoryPath, SealLayout.signaturePath, "Info.plist"]
        let whole = try names.map(app.read)
        for seed in 1...2000 as ClosedRange<UInt64> {
            var chance = SeededGenerator(seed: seed)
            let number = Int(seed % 4)
            let changed = mutate(whole[number], &chance)
            guard changed != whole[number] else { continue }
            try app.write(names[number], changed)
            let report = try SealVerification(of: app.root, name: SampleApp.name, trust: SampleApp.trustMine).report
            // A signature has bytes that are not signed; the signer is still the same.
            #expect(!report.isValid || number == 2 && report.signer == "Mine", "seed \(seed), \(names[number])")
            try app.write(names[number], whole[number])
        }
        #expect(try app.breaks() == [])
    }
}
