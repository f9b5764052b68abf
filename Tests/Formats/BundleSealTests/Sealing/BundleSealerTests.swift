// New seals: equal for equal content, and valid for any content that can be sealed.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct BundleSealerTests {
    private static let bundles = ["", "Frameworks/Kit.framework/", "PlugIns/Share.appex/", "Extras/Inner.app/"]

    private func parts(_ app: SampleApp, _ name: String) throws -> [[UInt8]] {
        try BundleSealerTests.bundles.map { try app.read("\($0)\(name)") }
    }

    @Test func `the same content gives the same resources and code directories`() throws {
        let (app, twin) = (try SampleApp.whole().seal(), try SampleApp.whole().seal())
        for name in [SealLayout.resourcesPath, SealLayout.codeDirectoryPath] {
            // The inner app's signature is a file of the outer app, and signatures differ each time.
            #expect(try parts(app, name).dropFirst() == parts(twin, name).dropFirst())
        }
        try twin.remove("Extras")
        try app.remove("Extras")
        try twin.seal()
        try app.seal()
        #expect(try app.read(SealLayout.resourcesPath) == twin.read(SealLayout.resourcesPath))
        #expect(try app.read(SealLayout.codeDirectoryPath) == twin.read(SealLayout.codeDirectoryPath))
        let before = try app.read(SealLayout.resourcesPath)
        try app.seal()
        #expect(try app.read(SealLayout.resourcesPath) == before)
    }

    @Test func `the signer shows only in requirements of nested code and in the signature`() throws {
        let (one, two) = (try SampleApp.whole(), try SampleApp.whole())
        for app in [one, two] { try app.remove("Extras") }
        try one.seal(SampleApp.mine)
        try two.seal(SampleApp.other)
        for bundle in ["Frameworks/Kit.framework", "PlugIns/Share.appex"] {
            for name in [SealLayout.resourcesPath, SealLayout.codeDirectoryPath] {
                #expect(try one.read("\(bundle)/\(name)") == two.read("\(bundle)/\(name)"))
            }
        }
        // The requirement of nested code names the certificate.
        #expect(try one.read(SealLayout.resourcesPath) != two.read(SealLayout.resourcesPath))
        for app in [one, two] {
            try app.remove("Frameworks/Kit.framework")
            try app.remove("PlugIns")
        }
        try one.seal(SampleApp.mine)
        try two.seal(SampleApp.other)
        #expect(try one.read(SealLayout.codeDirectoryPath) == two.read(SealLayout.codeDirectoryPath))
        #expect(try one.read(SealLayout.signaturePath) != two.read(SealLayout.signaturePath))
    }

    @Test func `a seal holds for openssl too`() throws {
        let app = try SampleApp.whole().seal()
        try Data(SampleApp.mine.certificatePEM).write(to: URL(filePath: app.scratch["mine.crt"]))
        try shell(
            """
            openssl cms -verify -inform DER -binary -in '\(app.path)/\(SealLayout.signaturePath)' -content \
            '\(app.path)/\(SealLayout.codeDirectoryPath)' -CAfile '\(app.scratch["mine.crt"])' -out /dev/null
            """)
    }

    @Test func `a sealing that is cancelled leaves the old seal`() throws {
        let app = try SampleApp.whole().seal()
        let done = try BundleSealer(identity: SampleApp.other).seal(app.root, name: SampleApp.name) { _ in false }
        #expect(!done)
        #expect(try app.breaks(trust: SampleApp.trustMine) == [])
    }

    @Test func `an app with a file that no seal can hold is not sealed`() throws {
        func flaw(_ name: FileName, _ make: (borrowing Descriptor, FileName) throws -> Void) throws -> String? {
            let app = try SampleApp.whole()
            try make(app.root.descriptor, name)
            return complaint { try app.seal() }?.message
        }
        func file(_ directory: borrowing Descriptor, _ name: FileName) throws {
            _ = try directory.open(name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        }
        #expect(try flaw(FileName([0x61, 0xFF])!, file) != nil)
        #expect(try flaw("a\u{1}b", file) != nil)
        #expect(try flaw("a\u{FFFE}", file) != nil)
        #expect(try flaw("pipe") { try $0.makeNode($1, mode: S_IFIFO | 0o600) } != nil)
        #expect(
            try flaw("link") { directory, _ in
                try directory.makeSymbolicLink("bad", target: [0xFF])
            } != nil)
        let app = try SampleApp.whole()
        try app.remove("Info.plist")
        #expect(complaint { try app.seal() } != nil)
    }

    // MARK: Random bundles

    /// A random bundle, and the paths that its seal names.
    private func grow(_ app: SampleApp, _ chance: inout SeededGenerator) throws -> [String] {
        let names = [
            "a", "b.txt", "with space", "Ünï", "日本", "new\nline", "tab\t", "-rf", "&<>\"'", "e\u{301}", "~", "PkgInfo2",
            "Info.plist.x", "🙂", "en.lproj", "Base.lproj", "Frameworks", "a.dSYM", "_CodeSignature2", "$HOME",
            String(repeating: "n", count: 200), ".hidden",
        ]
        let sizes = [0, 0, 1, 2, 17, 4095, 4096, 4097, 70_000]
        try app.write("Info.plist", SampleApp.information("com.example.A", executable: "Code"))
        try app.write("Code", chance.bytes(sizes.randomElement(using: &chance)!))
        var (directories, sealed) = ([""], ["Info.plist", "Code"])
        var taken: Set<String> = []
        for number in 0..<Int.random(in: 0..<11, using: &chance) {
            let parent = directories.randomElement(using: &chance)!
            let path = parent + names.randomElement(using: &chance)!
            guard taken.insert(path).inserted else { continue }
            switch Int.random(in: 0..<8, using: &chance) {
            case 0, 1:
                try app.makeDirectory(path)
                directories.append(path + "/")
            case 2:
                let target = ["a", "../a", "/etc/passwd", "nowhere\n", "Ünï"].randomElement(using: &chance)!
                try app.link(path, to: target)
                sealed.append(path)
            case 3:
                let suffix = [".app", ".appex", ".framework", ".xpc"].randomElement(using: &chance)!
                try app.write("\(path)\(suffix)/Info.plist", SampleApp.information("a.b\(number)", executable: "C"))
                try app.write("\(path)\(suffix)/C", chance.bytes(10))
                sealed.append("\(path)\(suffix)/C")
                directories.append("\(path)\(suffix)/")
            default:
                try app.write(path, chance.bytes(sizes.randomElement(using: &chance)!))
                sealed.append(path)
            }
        }
        return sealed
    }

    private func spoil(_ app: SampleApp, _ path: String, _ chance: inout SeededGenerator) throws -> String {
        let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(app.path)/\(path)")) != nil
        switch Int.random(in: 0..<4, using: &chance) {
        case 0 where path != "Info.plist" && !path.contains(".lproj/"):
            try app.remove(path)
            return "without \(path)"
        case 1:
            try app.remove(path)
            try app.link(path, to: "somewhere else")
            return "with a link at \(path)"
        case 2:
            try app.write("\(path)+", "")
            return "with \(path)+"
        default:
            if isLink {
                try app.remove(path)
                try app.write(path, "")
            } else if try !app.read(path).isEmpty, Bool.random(using: &chance) {
                try app.flip(path, at: Int.random(in: 0..<app.read(path).count, using: &chance))
            } else {
                try app.change(path) { $0 + [0] }
            }
            return "with \(path) changed"
        }
    }

    @Test(.timeLimit(.minutes(1))) func `any bundle is valid once sealed, and never after a change`() throws {
        for seed in 1...150 as ClosedRange<UInt64> {
            var chance = SeededGenerator(seed: seed)
            let app = try SampleApp()
            let sealed = try grow(app, &chance)
            try app.seal()
            #expect(try app.breaks(trust: SampleApp.trustMine) == [], "seed \(seed)")
            let what = try spoil(app, sealed.randomElement(using: &chance)!, &chance)
            #expect(try app.breaks() != [], "seed \(seed), \(what)")
        }
    }
}
