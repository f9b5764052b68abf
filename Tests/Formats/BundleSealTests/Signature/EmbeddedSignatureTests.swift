// Apps with the signature in the main executable, as Apple's tools sign them.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct EmbeddedSignatureTests {
    /// An app whose executable is a Mach-O.
    private final class Signed {
        let app: SampleApp
        let information: [UInt8]
        private(set) var resources: [UInt8] = []

        init() throws {
            app = try SampleApp()
            information = Array(SampleApp.information("com.example.Notes", executable: "Notes").utf8)
            try app.write("Info.plist", information)
            try app.write("readme.txt", "read me\n")
            try app.write("en.lproj/a.strings", "a")
            try app.link("link", to: "readme.txt")
            // The sealer writes the CodeResources that codesign would write.
            try app.seal()
            resources = try app.read(SealLayout.resourcesPath)
            try app.remove(SealLayout.codeDirectoryPath)
            try app.remove(SealLayout.signaturePath)
        }

        var fixture: MachOFixture {
            var fixture = MachOFixture()
            fixture.informationList = information
            fixture.resources = resources
            return fixture
        }

        /// Replaces the main executable.
        func put(_ bytes: [UInt8]) throws { try app.write("Notes", bytes) }

        func breaks() throws -> [String] {
            let breaks = try app.breaks()
            #expect(try app.breaks(trust: SampleApp.trustMine) == breaks)
            return breaks
        }
    }

    private func cms(_ identity: SigningIdentity = SampleApp.mine) -> ([[UInt8]]) -> [UInt8] {
        { directories in try! CMSSignature.sign(directories[0], by: identity) }
    }

    /// The attribute that Apple's tools add to the signature: the hashes of all code directories.
    private func cms(naming hashes: [[UInt8]], over content: [UInt8]) throws -> [UInt8] {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["cdhashes": hashes.map { Data($0) }], format: .xml, options: 0)
        return try CMSSignature.sign(content, by: SampleApp.mine, attribute: [UInt8](list))
    }

    private func cdhash(_ directory: [UInt8]) throws -> [UInt8] {
        try CodeDirectory(decoding: directory).codeDirectoryHash
    }

    @Test func `a program that seals the app is a seal`() throws {
        let signed = try Signed()
        try signed.put(signed.fixture.program(sign: cms()).bytes)
        #expect(try signed.breaks() == [])
        let report = try signed.app.report()
        #expect(report.signer == "Mine")
        #expect(report.warnings == [])
    }

    @Test func `every change of the app is found`() throws {
        let signed = try Signed()
        let program = signed.fixture.program(sign: cms())
        try signed.put(program.bytes)
        func change(_ name: String, _ expected: [String], _ body: ([UInt8]) -> [UInt8]) throws {
            let before = try signed.app.read(name)
            try signed.app.write(name, body(before))
            #expect(try signed.breaks() == expected, "\(name)")
            try signed.app.write(name, before)
        }
        for offset in [40, 4096, 3 * 4096 + 815] {
            try change("Notes", ["changed Notes"]) { $0.with(Int($0[offset] ^ 1), at: offset, width: 1) }
        }
        try change("Info.plist", ["changed Info.plist"]) { $0 + [10] }
        try change(SealLayout.resourcesPath, ["changed \(SealLayout.resourcesPath)"]) { $0 + [10] }
        try change("readme.txt", ["changed readme.txt"]) { $0 + [10] }
        // The blobs of the signature, the directory, and the message.
        try change("Notes", ["signature Notes"]) { $0.with(7, at: program.blob(5).upperBound - 1, width: 1) }
        try change("Notes", ["signature Notes"]) { $0.with(1, at: program.blob(0).lowerBound + 0xC) }
        try change("Notes", ["signature Notes"]) { bytes in
            let last = program.blob(0x10000).upperBound - 1
            return bytes.with(Int(bytes[last] ^ 1), at: last, width: 1)
        }
        try change("Notes", ["signature Notes"]) { $0 + [0] }
        try change("Notes", ["signature Notes"]) { Array($0.dropLast()) }
        #expect(try signed.breaks() == [])
        try signed.app.write("new", "")
        try signed.app.remove("link")
        #expect(try signed.breaks() == ["missing link", "added new"])
        try signed.app.remove("Notes")
        #expect(
            try signed.breaks() == ["missing \(SealLayout.codeDirectoryPath)", "missing \(SealLayout.signaturePath)"])
    }

    @Test func `a program of another app, and one that seals nothing`() throws {
        let signed = try Signed()
        var other = signed.fixture
        other.informationList = Array("other".utf8)
        other.resources = Array("resources".utf8)
        try signed.put(other.program(sign: cms()).bytes)
        #expect(try signed.breaks() == ["changed Info.plist", "changed \(SealLayout.resourcesPath)"])
        other.informationList = nil
        other.resources = nil
        try signed.put(other.program(sign: cms()).bytes)
        #expect(try signed.breaks() == ["added Info.plist", "added \(SealLayout.resourcesPath)"])
        other.signed = false
        try signed.put(other.program().bytes)
        let none = ["missing \(SealLayout.codeDirectoryPath)", "missing \(SealLayout.signaturePath)"]
        #expect(try signed.breaks() == none)
        try signed.put(Array("#!/bin/sh\n".utf8))
        #expect(try signed.breaks() == none)
    }

    @Test func `a message over another directory does not hold`() throws {
        let signed = try Signed()
        var other = signed.fixture
        other.identifier = "com.example.Other"
        let message = try CMSSignature.sign(
            Array(other.program().bytes[other.program().blob(0)]), by: SampleApp.mine)
        try signed.put(signed.fixture.program { _ in message }.bytes)
        #expect(try signed.breaks() == ["signature Notes"])
        try signed.put(signed.fixture.program { _ in [1, 2, 3] }.bytes)
        #expect(try signed.breaks() == ["signature Notes"])
        // No signature, and a directory without CS_ADHOC.
        try signed.put(signed.fixture.program().bytes)
        #expect(try signed.breaks() == ["signature Notes"])
    }

    @Test func `somebody else's signature will do where nobody is trusted`() throws {
        let signed = try Signed()
        try signed.put(signed.fixture.program(sign: cms(SampleApp.other)).bytes)
        #expect(try signed.app.breaks() == [])
        #expect(try signed.app.report().signer == "Other")
        #expect(try signed.app.breaks(trust: SampleApp.trustMine) == ["untrusted Notes"])
    }

    @Test func `a program signed ad hoc names nobody`() throws {
        let signed = try Signed()
        var fixture = signed.fixture
        fixture.flags = 2
        try signed.put(fixture.program().bytes)
        let report = try signed.app.report()
        #expect(report.isValid)
        #expect(report.signer == nil)
        #expect(report.warnings == ["Notes is signed ad hoc: its signature names nobody"])
        #expect(try signed.app.breaks(trust: SampleApp.trustMine) == ["untrusted Notes"])
        try signed.app.flip("Notes", at: 5000)
        #expect(try signed.app.breaks() == ["changed Notes"])
        // An invalid signature is not the same as none.
        try signed.put(fixture.program { _ in [1, 2, 3] }.bytes)
        #expect(try signed.breaks() == ["signature Notes"])
    }

    // MARK: Several directories

    @Test func `further directories count when the signature names them`() throws {
        let signed = try Signed()
        var fixture = signed.fixture
        fixture.hashTypes = [1, 2]
        let program = fixture.program { directories in
            try! cms(naming: directories.map { try! cdhash($0) }, over: directories[0])
        }
        try signed.put(program.bytes)
        #expect(try signed.breaks() == [])
        try signed.app.flip("Notes", at: 5000)
        #expect(try signed.breaks() == ["changed Notes"])
        // A further directory with other hashes than the first.
        let hash = program.blob(0x1000).upperBound - 1
        try signed.put(program.bytes.with(Int(program.bytes[hash] ^ 1), at: hash, width: 1))
        #expect(try signed.breaks() == ["signature Notes"])
    }

    @Test func `a further directory that the signature does not name is nobody's`() throws {
        let signed = try Signed()
        var fixture = signed.fixture
        fixture.hashTypes = [1, 2]
        try signed.put(fixture.program(sign: cms()).bytes)
        #expect(try signed.breaks() == ["signature Notes"])
        for garbage in [[], [[UInt8]](repeating: [], count: 3), [[1, 2, 3]]] {
            try signed.put(fixture.program { try! cms(naming: garbage, over: $0[0]) }.bytes)
            #expect(try signed.breaks() == ["signature Notes"])
        }
        try signed.put(fixture.program { try! cms(naming: [cdhash($0[0])], over: $0[0]) }.bytes)
        #expect(try signed.breaks() == ["signature Notes"])
    }

    // MARK: Several programs

    @Test func `every slice of a fat program is signed`() throws {
        let signed = try Signed()
        let good = signed.fixture.program(sign: cms())
        var old = signed.fixture
        old.kind = .thin32
        try signed.put(MachOFixture.fat([good, old.program(sign: cms())]))
        #expect(try signed.breaks() == [])
        let bytes = try signed.app.read("Notes")
        let second = Int(bytes.word(at: 36))
        try signed.app.flip("Notes", at: second + 5000)
        #expect(try signed.breaks() == ["changed Notes"])
        var unbound = old
        unbound.informationList = Array("other".utf8)
        try signed.put(MachOFixture.fat([good, unbound.program(sign: cms())]))
        #expect(try signed.breaks() == ["changed Info.plist"])
        try signed.put(MachOFixture.fat([good, old.program { _ in [1] }]))
        #expect(try signed.breaks() == ["signature Notes"])
        try signed.put(MachOFixture.fat([good, old.program()]))
        #expect(try signed.breaks() == ["signature Notes"])
        try signed.put(MachOFixture.fat([good, old.program(sign: cms(SampleApp.other))]))
        #expect(try signed.app.breaks() == [])
        #expect(try signed.app.breaks(trust: SampleApp.trustMine) == ["untrusted Notes"])
        var adHoc = old
        adHoc.flags = 2
        try signed.put(MachOFixture.fat([good, adHoc.program()]))
        #expect(try signed.app.breaks() == [])
        #expect(try signed.app.breaks(trust: SampleApp.trustMine) == ["untrusted Notes"])
        old.signed = false
        try signed.put(MachOFixture.fat([good, old.program()]))
        #expect(
            try signed.breaks() == ["missing \(SealLayout.codeDirectoryPath)", "missing \(SealLayout.signaturePath)"])
    }

    // MARK: Code inside

    /// An app with a framework whose code is a Mach-O, sealed by its one code directory.
    private func withFramework(_ programs: (MachOFixture) -> [MachOFixture.Program]) throws -> SampleApp {
        let app = try SampleApp()
        try app.write("Info.plist", SampleApp.information("com.example.Notes", executable: nil))
        let kit = "Frameworks/Kit.framework"
        let information = SampleApp.information("com.example.Kit", executable: "Kit")
        try app.write("\(kit)/Info.plist", information)
        try app.write("\(kit)/data.txt", "data")
        try app.seal()
        let resources = try app.read("\(kit)/\(SealLayout.resourcesPath)")
        try app.remove("\(kit)/\(SealLayout.codeDirectoryPath)")
        try app.remove("\(kit)/\(SealLayout.signaturePath)")
        var fixture = MachOFixture()
        fixture.informationList = Array(information.utf8)
        fixture.resources = resources
        let programs = programs(fixture)
        try app.write("\(kit)/Kit", programs.count == 1 ? programs[0].bytes : MachOFixture.fat(programs))
        let hash = try cdhash(Array(programs[0].bytes[programs[0].blob(0)]))
        try app.resign {
            $0.files2?[kit] = CodeResources.Entry(resource: .nested(codeDirectoryHash: hash, requirement: nil))
        }
        return app
    }

    @Test func `a framework of one program is bound by its code directory`() throws {
        let app = try withFramework { [$0.program(sign: cms(SampleApp.other))] }
        #expect(try app.breaks(trust: SampleApp.trustMine) == [])
        try app.flip("Frameworks/Kit.framework/data.txt", at: 0)
        try app.flip("Frameworks/Kit.framework/Kit", at: 5000)
        #expect(
            try app.breaks() == ["changed Frameworks/Kit.framework/Kit", "changed Frameworks/Kit.framework/data.txt"])
    }

    @Test func `a framework's program that the app does not name needs a trusted signature`() throws {
        func app(_ second: @escaping (MachOFixture) -> MachOFixture.Program) throws -> SampleApp {
            try withFramework { fixture in
                var old = fixture
                old.kind = .thin32
                return [fixture.program(sign: cms(SampleApp.other)), second(old)]
            }
        }
        #expect(try app { $0.program(sign: cms()) }.breaks(trust: SampleApp.trustMine) == [])
        let strange = try app { $0.program(sign: cms(SampleApp.other)) }
        #expect(try strange.breaks() == [])
        #expect(try strange.breaks(trust: SampleApp.trustMine) == ["untrusted Frameworks/Kit.framework/Kit"])
        let adHoc = try app { fixture in
            var fixture = fixture
            fixture.flags = 2
            return fixture.program()
        }
        #expect(try adHoc.breaks() == [])
        #expect(try adHoc.breaks(trust: SampleApp.trustMine) == ["untrusted Frameworks/Kit.framework/Kit"])
    }
}
