// Attributes of Darwin's kernel: no app sees, sets or removes them, on whatever host they have got there.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@Suite("Attributes in com.apple.system.")
struct SystemAttributeTests {
    // S-XATTR-6
    @Test(arguments: ["com.apple.system.cprotect", "user.com.apple.system.cprotect", "com.apple.system.Security"])
    func `none is set, read or removed, nor listed`(name: String) throws {
        let home = try TestHome()
        let volume = home.volume
        let file = try volume.make("file", in: try volume.node("Documents"), "text")
        let name = Array(name.utf8)
        #expect(throws: Fault.refused(.systemAttribute)) { try volume.setAttribute(name, to: [4], flags: 0, of: file) }
        #expect(throws: Fault.refused(.systemAttribute)) { try volume.attribute(name, of: file) }
        #expect(throws: Fault.refused(.systemAttribute)) { try volume.removeAttribute(name, of: file) }
        try shell("setfattr -n user.com.apple.system.cprotect -v x '\(home.directory)/data/Documents/file'")
        #expect(throws: Fault.refused(.systemAttribute)) { try volume.attribute(name, of: file) }
        #expect(try volume.attributeNames(of: file).isEmpty)
    }

    @Test func `a name that only begins like one is the app's`() throws {
        let volume = try TestHome().volume
        let file = try volume.make("file", in: try volume.node("Documents"), "text")
        let name = Array("com.apple.systematic".utf8)
        try volume.setAttribute(name, to: [1], flags: 0, of: file)
        #expect(try volume.attribute(name, of: file) == [1])
    }
}
