// Tests of the list after -o: its division at commas, and the options that are taken, passed over and refused.

import AppContainer
import SandboxModel
import Testing

@testable import AppContainerCommand

@Suite struct MountOptionsTests {
    private func refusal(of list: String, isSloppy: Bool = false) -> String? {
        do throws(Complaint) {
            _ = try MountOptions([list], isSloppy: isSloppy)
            return nil
        } catch {
            #expect(error.kind == .badRequest)
            return error.message
        }
    }

    @Test func `each option of the contract sets its part`() throws {
        let options = try MountOptions([
            "ro,running,documents,allow_other,cachedir-tag",
            "passcode-file=/etc/code,transport=dev-fuse,trust-owner=ada",
        ])
        var expected = try MountOptions([])
        expected.readOnly = true
        expected.running = true
        expected.documents = true
        expected.allowOther = true
        expected.cachedirTag = true
        expected.passcodeFile = "/etc/code"
        expected.transport = .devFuse
        expected.trustedOwner = "ada"
        #expect(options == expected)
    }

    @Test func `the last of ro and rw holds`() throws {
        #expect(try MountOptions(["ro,rw"]).readOnly == false)
        #expect(try MountOptions(["rw", "ro"]).readOnly)
    }

    @Test(arguments: [
        (#"passcode-file=/a,ro"#, "/a"), (#"passcode-file="/a,b",ro"#, "/a,b"), (#"passcode-file=/a\,b,ro"#, "/a,b"),
        (#"passcode-file=/a\\b"#, #"/a\b"#), (#"passcode-file="/a=b""#, "/a=b"),
        (#"passcode-file=/ü \" x"#, #"/ü " x"#),
        (",,passcode-file=/a,,", "/a"), ("ro,passcode-file=\u{301}x", "\u{301}x"),
    ])
    func `commas are kept between quotes and after a backslash`(list: String, file: String) throws {
        #expect(try MountOptions([list]).passcodeFile == file)
    }

    @Test(arguments: [
        "defaults", "rw,nosuid,nodev,exec,async,noatime,nodiratime,relatime", "noauto,nofail,_netdev,user,users",
        "user=ada", "comment=words", "x-systemd.automount", "x-systemd.requires=appcontainer@srv-phone.service",
        "X-a=b",
        "",
    ])
    func `options that are true anyway or another's change nothing`(list: String) throws {
        #expect(try MountOptions([list]) == MountOptions([]))
    }

    @Test(arguments: [
        ("colour", "no option 'colour'"), ("RO", "no option 'RO'"), ("uid=0", "no option 'uid'"),
        ("noexec", "say exec after them"), ("remount", "cannot be remounted"), ("suid", "nosuid and nodev"),
        ("dev", "nosuid and nodev"), ("strictatime", "no option"), ("passcode-file", "needs a value"),
        ("passcode-file=", "needs a value"), ("transport", "needs a value"),
        ("transport=", "needs a value"), ("transport=x", "auto, dev-fuse or io-uring"),
        ("passcode-file=\"/a", "has no end"),
        ("ro=1", "takes no value"), ("running=yes", "takes no value"), ("nosuid=1", "no option"),
    ])
    func `all else is refused by its name`(list: String, words: String) throws {
        let message = try #require(refusal(of: "rw,\(list)"))
        #expect(message.contains(words))
    }

    @Test func `a sloppy list leaves out unknown options, and no others`() throws {
        #expect(try MountOptions(["colour,uid=0,ro"], isSloppy: true).readOnly)
        #expect(refusal(of: "noexec", isSloppy: true) != nil)
        #expect(refusal(of: "ro=1", isSloppy: true) != nil)
    }

    @Test(arguments: [
        ("/srv/phone:com.example.Notes", "/srv/phone", "com.example.Notes"), ("/a:b:c", "/a:b", "c"),
        ("phone:x", "phone", "x"),
    ])
    func `the last colon divides device and app`(source: String, device: String, app: String) throws {
        let parts = try SystemMount.parts(of: source)
        #expect(parts.device == device && parts.app == app)
    }

    @Test(arguments: ["", ":", "phone", "phone:", ":com.example.Notes"])
    func `a source without one of the two is refused`(source: String) {
        #expect(throws: Complaint.self) { try SystemMount.parts(of: source) }
    }
}
