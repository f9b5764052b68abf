// Tests of the seal at an installation, and of bundles that were changed afterwards.

import BackingStore
import BundleSeal
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct SealTests {
    let scratch = Scratch()
    let identity = SigningIdentity(commonName: "Developer")

    /// A copy of the sample app that is signed, and then changed by a shell script that runs in it.
    private func signedApp(by signer: SigningIdentity? = nil, _ script: String = "true") throws -> String {
        let path = try scratch.makeApp("Signed-\(UUID().uuidString)")
        let app = try AppDirectory(at: path)
        _ = try BundleSealer(identity: signer ?? identity).seal(app.root, name: app.name) { _ in true }
        try shell("cd '\(path)'; \(script)")
        return path
    }

    private func trust(_ identity: SigningIdentity) throws -> SealDemands {
        SealDemands(trust: try TrustedCertificates(pem: identity.certificatePEM))
    }

    @Test func `an app without a signature is signed by the device, and a notice says so`() throws {
        let device = try scratch.makeDevice()
        var notices: [String] = []
        let app = try device.install(sampleApp, notice: { notices.append($0) })
        #expect(notices == ["Notes.app was not signed; the device has signed it with its own identity"])
        let bundle = try AppDirectory(at: try device.backingPath(of: app.identifier, .app))
        var verification = try SealVerification(
            of: bundle.root, name: bundle.name,
            trust: try TrustedCertificates(
                pem: Array(Data(contentsOf: URL(filePath: "\(scratch.device)/Identity.pem")))))
        #expect(try verification.finish { _ in true })
        #expect(verification.report.breaks == [])
        #expect(try HostPath.status("\(scratch.device)/Identity.pem").permissions == 0o600)
    }

    @Test func `a directory that nobody may write to is signed all the same, and keeps its mode`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(scratch.makeApp("Shut", "chmod 555 Samples en.lproj .; chmod 444 Info.plist"))
        let bundle = try device.backingPath(of: app.identifier, .app)
        #expect(try HostPath.status(bundle).permissions == 0o555)
        #expect(try HostPath.status(bundle + "/Samples").permissions == 0o555)
        try shell("chmod -R u+w '\(scratch["Shut.app"])'")
    }

    @Test func `a signature can be asked for`() throws {
        let device = try scratch.makeDevice()
        for demands in [SealDemands(requiresSignature: true), try trust(identity)] {
            let refusal = complaint { _ = try device.install(sampleApp, demands: demands) }
            #expect(refusal?.kind == .unsigned)
        }
        #expect(scratch.containers == emptyDevice)
        var notices: [String] = []
        _ = try device.install(
            signedApp(), demands: SealDemands(requiresSignature: true), notice: { notices.append($0) })
        #expect(notices == [])
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.device)/Identity.pem"))
    }

    @Test func `a signature of an untrusted signer is refused`() throws {
        let device = try scratch.makeDevice()
        let stranger = SigningIdentity(commonName: "Stranger")
        let refusal = complaint { _ = try device.install(signedApp(by: stranger), demands: trust(identity)) }
        #expect(refusal?.kind == .sealBroken)
        #expect(refusal?.message.contains("is not trusted: _CodeSignature/CodeSignature (untrusted)") == true)
        #expect(scratch.containers == emptyDevice)
        _ = try device.install(signedApp(), demands: trust(identity))
    }

    @Test(arguments: [
        ("echo x >> Samples/Welcome.txt", "Samples/Welcome.txt was changed since (changed)"),
        ("rm Samples/Welcome.txt", "Samples/Welcome.txt is missing (missing)"),
        ("touch Samples/More.txt", "Samples/More.txt was added since (added)"),
        ("ln -sfn en.lproj FirstNote.txt", "FirstNote.txt was changed since (changed)"),
        ("sed -i s/1.2/1.3/ Info.plist", "Info.plist was changed since (changed)"),
        ("echo x >> Notes", "Notes was changed since (changed)"),
        ("rm _CodeSignature/CodeSignature", "_CodeSignature/CodeSignature is missing (missing)"),
    ])
    func `a broken seal installs nothing, and the first path that breaks it is named`(
        script: String, what: String
    ) throws {
        let device = try scratch.makeDevice()
        let path = try signedApp(script)
        let name = path.split(separator: "/").last!
        let refusal = complaint { _ = try device.install(path) }
        #expect(refusal?.kind == .sealBroken)
        #expect(refusal?.message == "the seal of \(name) is broken: \(what); nothing was installed")
        #expect(scratch.containers == emptyDevice)
        #expect(device.apps == [])
    }

    @Test func `an expired certificate is a notice`() throws {
        let device = try scratch.makeDevice()
        let old = SigningIdentity(commonName: "Old", validity: -200...(-100))
        var notices: [String] = []
        _ = try device.install(signedApp(by: old), demands: trust(old), notice: { notices.append($0) })
        #expect(notices.count == 1)
        #expect(notices.first?.contains("the certificate of Old has expired or is not valid yet") == true)
    }

    @Test func `an archive is installed as its app is, and a broken one is not`() throws {
        let device = try scratch.makeDevice()
        let path = try signedApp()
        let archive = scratch["Notes.ipa"]
        try shell("mkdir '\(scratch["Payload"])'; cp -r '\(path)' '\(scratch["Payload"])/Notes.app'")
        func pack() throws { try shell("cd '\(scratch.path)'; rm -f Notes.ipa; zip -qry Notes.ipa Payload") }
        try shell("echo x >> '\(scratch["Payload"])/Notes.app/Notes'")
        try pack()
        #expect(complaint { _ = try device.install(archive) }?.kind == .sealBroken)
        try shell("head -c 100 '\(archive)' > '\(scratch["cut.ipa"])'")
        #expect(complaint { _ = try device.install(scratch["cut.ipa"]) }?.kind == .invalidApp)
        #expect(scratch.containers == emptyDevice)
        try shell("cp '\(path)/Notes' '\(scratch["Payload"])/Notes.app/Notes'")
        try pack()
        let app = try device.install(archive, demands: trust(identity))
        try shell("diff -r '\(path)' '\(device.backingPath(of: app.identifier, .app))'")
        // An archive updates as well.
        #expect(try device.install(archive, demands: trust(identity)).bundle != app.bundle)
    }

    // MARK: Changed afterwards

    @Test(arguments: [
        ("echo x >> Samples/Welcome.txt", "Samples/Welcome.txt"),
        ("printf y | dd conv=notrunc status=none of=Notes", "Notes"),
        ("rm en.lproj/Localizable.strings", "en.lproj/Localizable.strings"),
        ("touch added", "added"),
        ("ln -sfn en.lproj FirstNote.txt", "FirstNote.txt"),
        ("rm -r Samples; ln -s en.lproj Samples", "Samples"),
    ])
    func `an app whose bundle was changed does not run`(script: String, path: String) throws {
        try StoredDevice.create(at: scratch.device)
        // Wrong blocks that are read are reported as well; here that is expected.
        let device = try BootedDevice.boot(at: scratch.device, report: { _ in })
        let app = try device.install(sampleApp)
        #expect(try device.firstBreak(of: app, readingAll: false) == nil)
        #expect(try device.firstBreak(of: app, readingAll: true) == nil)
        try shell("cd '\(device.backingPath(of: app.identifier, .app))'; \(script)")
        #expect(try device.firstBreak(of: app, readingAll: false) == path)
        #expect(try device.firstBreak(of: app, readingAll: true) == path)
        #expect(try device.check().problems.first?.path.hasPrefix("Notes.app/") == true)
    }

    @Test func `an unchanged file with new times is read once`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        try shell(
            "cd '\(device.backingPath(of: app.identifier, .app))'; touch Samples/Welcome.txt; cp -p Notes n; mv n Notes"
        )
        func bytes() throws -> Int64 {
            var last: Int64 = 0
            let follow: (DeviceProgress) -> Bool = { progress in
                last = progress.total ?? 0
                return true
            }
            #expect(try device.firstBreak(of: app, readingAll: false, progress: follow) == nil)
            return last
        }
        #expect(try bytes() > 0)
        #expect(try bytes() == 0)
    }

    @Test func `a list of digests that is not the device's own is no list`() throws {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp)
        let other = try device.install(scratch.makeApp("Other", identifier: "com.example.Other"))
        let own = try device.backingPath(of: app.identifier, .app) + "/../Digests"
        let foreign = try device.backingPath(of: other.identifier, .app) + "/../Digests"
        try shell("cp '\(foreign)' '\(own)'")
        #expect(complaint { _ = try device.sealedBundle(of: app) }?.kind == .damaged)
        #expect(try device.check().problems.map(\.path) == ["Notes.app"])
        try shell("rm '\(own)'")
        #expect(complaint { _ = try device.firstBreak(of: app, readingAll: false) }?.kind == .damaged)
    }
}
