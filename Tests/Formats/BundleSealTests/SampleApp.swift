// An app in a directory of the host, to be sealed, changed and verified.

import Foundation
import HashFunctions
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

/// A `.app` directory for one test.
final class SampleApp {
    /// On a tmpfs if the host has one, as the tests write many small files.
    let scratch = Scratch(under: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/var/tmp")
    let path: String
    let root: SharedDescriptor
    static let name: FileName = "Notes.app"

    static let mine = SigningIdentity(commonName: "Mine")
    static let other = SigningIdentity(commonName: "Other")
    static let expired = SigningIdentity(commonName: "Expired", validity: -7200...(-3600))
    static let trustMine = try! TrustedCertificates(pem: mine.certificatePEM)

    /// An empty app.
    init() throws {
        path = scratch["Notes.app"]
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        root = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY))
    }

    /// One of everything: nested code, links, localizations, names outside ASCII, empty files.
    static func whole() throws -> SampleApp {
        let app = try SampleApp()
        try app.write("Info.plist", information("com.example.Notes", executable: "Notes"))
        try app.write("Notes", "#!/bin/sh\necho notes\n")
        try app.write("PkgInfo", "APPL????")
        try app.write("readme.txt", "read me\n")
        try app.write("empty", "")
        try app.write("Übung Ω/naïve ✎.txt", "text")
        try app.write("Assets/deep/er/a.bin", [UInt8](repeating: 7, count: 10_000))
        try app.write("en.lproj/Localizable.strings", "\"a\" = \"b\";")
        try app.write("Base.lproj/Main.strings", "\"c\" = \"d\";")
        try app.link("link", to: "readme.txt")
        try app.link("Assets/up", to: "../Assets/deep")
        try app.write("Frameworks/Kit.framework/Info.plist", information("com.example.Kit", executable: "Kit"))
        try app.write("Frameworks/Kit.framework/Kit", "code of the framework")
        try app.write("Frameworks/Kit.framework/data.txt", "data")
        try app.write("Frameworks/loose.dylib", "code by itself")
        try app.write("PlugIns/Share.appex/Info.plist", information("com.example.Notes.Share", executable: "Share"))
        try app.write("PlugIns/Share.appex/Share", "code of the extension")
        // Outside the directories for nested code: sealed file by file.
        try app.write("Extras/Inner.app/Info.plist", information("com.example.Inner", executable: "Inner"))
        try app.write("Extras/Inner.app/Inner", "code of the inner app")
        return app
    }

    static func information(_ identifier: String, executable: String?, more: String = "") -> String {
        let code = executable.map { "<key>CFBundleExecutable</key><string>\($0)</string>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>\(identifier)</string>\(code)\(more)</dict></plist>

            """
    }

    // MARK: Changes

    private func place(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try makeParent(of: name)
        try Data(bytes).write(to: URL(filePath: place(name)))
    }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: place(name)))) }

    func change(_ name: String, _ body: ([UInt8]) -> [UInt8]) throws { try write(name, body(read(name))) }

    func flip(_ name: String, at offset: Int) throws {
        try change(name) { bytes in
            var bytes = bytes
            bytes[offset >= 0 ? offset : bytes.count + offset] ^= 1
            return bytes
        }
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: place(name)) }

    func move(_ name: String, to other: String) throws {
        try makeParent(of: other)
        try FileManager.default.moveItem(atPath: place(name), toPath: place(other))
    }

    func copy(_ name: String, to other: String) throws {
        try FileManager.default.copyItem(atPath: place(name), toPath: place(other))
    }

    func link(_ name: String, to target: String) throws {
        try makeParent(of: name)
        try FileManager.default.createSymbolicLink(atPath: place(name), withDestinationPath: target)
    }

    func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: place(name), withIntermediateDirectories: true)
    }

    /// Compared by bytes, as Foundation may normalize names.
    func directory(_ name: String) throws -> Descriptor {
        try root.descriptor.openDirectory(at: name.split(separator: "/").map { FileName(String($0))! })
    }

    private func makeParent(of name: String) throws {
        guard let slash = name.lastIndex(of: "/") else { return }
        try makeDirectory(String(name[..<slash]))
    }

    // MARK: Sealing and verifying

    @discardableResult
    func seal(
        _ identity: SigningIdentity = mine, inside name: String = "", entitlements: [String: EntitlementValue]? = nil
    ) throws -> SampleApp {
        let sealed = try entitlements.map {
            try SealedEntitlements(propertyList: EntitlementsPropertyList.encode(Entitlements($0)))
        }
        let place = name.split(separator: "/").map { FileName(String($0))! }
        let bundle = SharedDescriptor(try root.descriptor.openDirectory(at: place))
        let done = try BundleSealer(identity: identity, entitlements: sealed)
            .seal(bundle, name: place.last ?? SampleApp.name) { _ in true }
        try #require(done)
        return self
    }

    /// Signs the bundle again with another CodeResources, and everything else unchanged.
    func resign(by identity: SigningIdentity = mine, _ body: (inout CodeResources) -> Void) throws {
        var resources = try CodeResources(decoding: read(SealLayout.resourcesPath))
        body(&resources)
        try resign(resources: resources.encoded(), by: identity)
    }

    func resign(resources: [UInt8], by identity: SigningIdentity = mine) throws {
        let old = try CodeDirectory(decoding: read(SealLayout.codeDirectoryPath))
        let new = CodeDirectory(
            identifier: old.identifier,
            special: [
                CodeDirectory.infoSlot: HashFunction.sha256.digest(of: try read("Info.plist")),
                CodeDirectory.resourcesSlot: HashFunction.sha256.digest(of: resources),
            ], code: old.codeSlots == 0 ? nil : (old.codeHash(0), old.codeLimit))
        try write(SealLayout.resourcesPath, resources)
        try write(SealLayout.codeDirectoryPath, new.bytes)
        try write(SealLayout.signaturePath, CMSSignature.sign(new.bytes, by: identity))
    }

    func report(trust: TrustedCertificates? = nil) throws -> SealReport {
        var verification = try SealVerification(of: root, name: SampleApp.name, trust: trust)
        let done = try verification.finish { _ in true }
        try #require(done)
        return verification.report
    }

    /// As the command prints them.
    func breaks(trust: TrustedCertificates? = nil) throws -> [String] {
        try report(trust: trust).breaks.map { "\($0.kind.rawValue) \($0.path)" }
    }
}
