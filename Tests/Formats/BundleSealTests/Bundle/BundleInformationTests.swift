// Reading an Info.plist, and the complaints about invalid ones.

import Foundation
import Platform
import SandboxModel
import Testing

@testable import BundleSeal

@Suite struct BundleInformationTests {
    private func plist(_ keys: [String: Any], _ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8]
    {
        Array(try PropertyListSerialization.data(fromPropertyList: keys, format: format, options: 0))
    }

    private func complaint(_ bytes: [UInt8]) -> Complaint? {
        do throws(Complaint) {
            _ = try BundleInformation(decoding: bytes, bundleName: "Notes.app")
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `XML and binary lists say the same`(format: PropertyListSerialization.PropertyListFormat) throws {
        let bytes = try plist(
            [
                "CFBundleIdentifier": "com.example.Notes", "CFBundleExecutable": "Notes",
                "CFBundleDisplayName": "Meine Notizen ✎", "CFBundleName": "Notes",
                "CFBundleShortVersionString": "1.2", "CFBundleVersion": "7", "UIFileSharingEnabled": true,
                "MinimumOSVersion": "17.0", "UIDeviceFamily": [1, 2],
            ], format)
        let information = try BundleInformation(decoding: bytes, bundleName: "Notes.app")
        #expect(information.identifier.text == "com.example.Notes")
        #expect(information.executable == "Notes")
        #expect(information.displayName == "Meine Notizen ✎")
        #expect(information.version == "1.2")
        #expect(information.build == "7")
        #expect(information.sharesDocuments)
    }

    @Test func `only the identifier is asked for`() throws {
        let bytes = try plist(["CFBundleIdentifier": "com.example.Notes", "CFBundleVersion": 7], .xml)
        let information = try BundleInformation(decoding: bytes, bundleName: "Notes.app")
        #expect(information.displayName == "Notes")
        #expect(information.executable == nil)
        #expect(information.build == "")
        #expect(!information.sharesDocuments)
    }

    @Test(arguments: ["../../etc", "a/b", "com..example", ".hidden", "-rf", "a b", "com.exämple", "a\u{0}b", "x\ny"])
    func `an identifier that could leave its directory is refused in one line`(identifier: String) throws {
        // Written by hand, as the encoder refuses some of these.
        let bytes = try plist(["CFBundleIdentifier": identifier], .binary)
        let failure = complaint(bytes)
        #expect(failure?.kind == .invalidIdentifier)
        #expect(failure?.message.contains("\n") == false)
    }

    @Test func `an executable is the name of a file`() throws {
        let bytes = try plist(["CFBundleIdentifier": "a.b", "CFBundleExecutable": "../../bin/sh"], .xml)
        #expect(complaint(bytes)?.kind == .invalidApp)
    }

    @Test func `a bundle without a valid Info.plist is not an app`() throws {
        #expect(complaint([])?.kind == .invalidApp)
        #expect(complaint(Array("nonsense".utf8))?.kind == .invalidApp)
        #expect(complaint(Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 40))?.kind == .invalidApp)
        #expect(complaint(try plist([:], .xml))?.kind == .invalidApp)
        #expect(complaint(try plist(["CFBundleIdentifier": 7], .xml))?.kind == .invalidApp)
        #expect(complaint(try plist(["CFBundleIdentifier": ""], .binary))?.kind == .invalidApp)
    }

    @Test func `a bundle without a readable Info plist is not an app`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "bundle-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bundle = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        func kind() -> Complaint.Kind? {
            do throws(Complaint) {
                _ = try BundleInformation(of: bundle, bundleName: "Notes.app")
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(kind() == .invalidApp)
        try bundle.makeNode("Info.plist", mode: S_IFIFO | 0o600)
        #expect(kind() == .invalidApp)
        try bundle.removeFile("Info.plist")
        try bundle.makeSymbolicLink("Info.plist", target: Array("/etc/passwd".utf8))
        #expect(kind() == .invalidApp)
        try bundle.removeFile("Info.plist")
        try Data(plist(["CFBundleIdentifier": "a.b"], .binary)).write(to: URL(filePath: "\(path)/Info.plist"))
        #expect(kind() == nil)
    }
}
