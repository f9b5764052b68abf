// The options of a volume, right and wrong.

import SandboxModel
import TestSupport
import Testing

@testable import Volumes

@Suite struct VolumeOptionsTests {
    @Test func `a volume of a template has all that its device is to have`() throws {
        let options = try VolumeOptions([
            "template": "phone", "app": "com.example.Notes", "passcode-secret": "code", "capacity": "2G",
            "running": "", "read-only": "true", "uid": "1000",
        ])
        #expect(options.source == .template("phone"))
        #expect(options.app?.text == "com.example.Notes")
        #expect(options.passcodeSecret == "code")
        #expect(options.capacity == 2 << 30)
        #expect(options.isRunning && options.isReadOnly)
        #expect(options.user == 1000)
    }

    @Test func `words that say no are none`() throws {
        for word in ["false", "no", "off"] {
            #expect(try !VolumeOptions(["template": "phone", "running": word]).isRunning)
        }
        #expect(try !VolumeOptions(["template": "phone"]).isReadOnly)
    }

    @Test func `the same options in another form are the same`() throws {
        let one = try VolumeOptions(["template": "phone", "capacity": "1K", "running": "yes"])
        #expect(
            try one == VolumeOptions(["template": "phone", "capacity": "1024", "running": "on", "read-only": "no"]))
        #expect(try one != VolumeOptions(["template": "phone", "capacity": "1025", "running": "on"]))
    }

    @Test func `each other source is of a volume or a snapshot`() throws {
        #expect(try VolumeOptions(["beside": "one"]).source == .beside(VolumeName("one")))
        #expect(try VolumeOptions(["copy-of": "one"]).source == .copy(VolumeName("one")))
        #expect(try VolumeOptions(["snapshot": "one"]).source == .snapshot(VolumeName("one")))
        #expect(try VolumeOptions(["control-of": "one", "uid": "0"]).source == .control(VolumeName("one")))
    }

    @Test(
        arguments: [
            ([:], "give one of them"),
            (["template": "phone", "beside": "one"], "give one of them"),
            (["template": "../phone"], "no name of a file"),
            (["template": ""], "no name of a file"),
            (["template": "phone", "passcode-secret": "a/b"], "no name of a file"),
            (["template": "phone", "app": "../x"], "no bundle identifier"),
            (["template": "phone", "capacity": "much"], "no capacity"),
            (["template": "phone", "capacity": "-1"], "no capacity"),
            (["template": "phone", "running": "perhaps"], "neither true nor false"),
            (["template": "phone", "uid": "-1"], "no user's number"),
            (["template": "phone", "uid": "+1"], "no user's number"),
            (["template": "phone", "uid": "4294967295"], "no user's number"),
            (["template": "phone", "uid": "root"], "no user's number"),
            (["beside": "one", "capacity": "1G"], "does not go with beside"),
            (["beside": "one", "uid": "1"], "does not go with beside"),
            (["control-of": "one"], "needs the option uid"),
            (["control-of": "one", "uid": "1", "app": "com.example.Notes"], "does not go with control-of"),
            (["control-of": "one", "uid": "1", "running": "true"], "does not go with control-of"),
            (["beside": "../one"], "no name of a volume"),
            (["template": "phone", "tempalte": "phone"], "there is no option"),
            (["template": "phone", "a\nb": "phone"], "there is no option"),
        ] as [([String: String], String)])
    func `a mistake is told in one line`(_ options: [String: String], _ words: String) {
        let found = complaint { _ = try VolumeOptions(options) }
        #expect(found?.message.contains(words) == true, "\(options): \(found?.message ?? "taken")")
    }
}

@Suite struct VolumeNameTests {
    @Test(arguments: ["a", "1", "a_b.c-d", "A" + String(repeating: "x", count: 127)])
    func `a name of an engine is one`(_ text: String) throws {
        #expect(try VolumeName(text).text == text)
        // A longer one would leave too little room in the identifiers of orchestrators.
        #expect((VolumeName(for: text).text == text) == (text.utf8.count <= 64))
    }

    @Test(arguments: [
        "", ".", "..", "-a", "_a", ".a", "a/b", "a b", "ä", "a\0", "a\n", String(repeating: "x", count: 129),
    ])
    func `any other text is none, and has one of its own`(_ text: String) throws {
        #expect(complaint { _ = try VolumeName(text) }?.kind == .invalidIdentifier)
        let made = VolumeName(for: text)
        #expect(try VolumeName(made.text) == made)
        #expect(VolumeName(for: text) == made)
        #expect(VolumeName(for: text + "!") != made)
    }
}
