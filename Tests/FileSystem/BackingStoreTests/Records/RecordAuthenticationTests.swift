// Records that somebody else wrote: forged, exchanged, cut, or of a device from before records carried codes.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore
@testable import DataProtection

@Suite struct RecordAuthenticationTests {
    let scratch = Scratch()

    /// A device with an app, a real keybag, and a session that was killed.
    private func makeUsedDevice(_ name: String = "device") throws -> String {
        let path = scratch[name]
        try DeviceDirectory.create(at: path) { (uidKey) throws(Complaint) in
            Keybag.create(passcode: nil, uidKey: uidKey).0.encoded()
        }
        let device = try DeviceDirectory.open(at: path)
        let lock = try device.lock()
        try device.replaceRegistry(AppRegistry(apps: [InstalledApp.sample("com.example.Notes")]), holding: lock)
        try device.replaceIdentity(with: Array("pem\n".utf8), holding: lock)
        _ = try device.beginSession(holding: lock)
        return path
    }

    /// Makes the device one of the format before: no codes, and a keybag of the first version.
    private func makeOld(_ path: String) throws {
        let uidKey = try #require(UIDKey(try HostPath.contents("\(path)/UID.key")))
        let keybag = try Keybag(decoding: try HostPath.contents("\(path)/Keybag")).inVersion(1, uidKey: uidKey)
        try Data(keybag.encoded()).write(to: URL(filePath: "\(path)/Keybag"))
        try shell(
            """
            cd '\(path)' && sed -i '/^  "authentication" : /d' *.json && sed -i '1d' Identity.pem
            sed -i 's/"format" : 4/"format" : 1/' Device.json
            """)
    }

    /// Begins the next session.
    private func start(_ path: String) throws -> DeviceSession {
        let device = try DeviceDirectory.open(at: path)
        return try device.beginSession(holding: try device.lock())
    }

    /// The refusal when a device is opened, locked, and its apps and identity are read.
    private func refusal(_ path: String) -> Complaint? {
        complaint {
            let device = try DeviceDirectory.open(at: path)
            let lock = try device.lock()
            _ = try device.registry()
            _ = try device.identity()
            withExtendedLifetime(lock) {}
        }
    }

    // MARK: The form

    @Test func `a record stays JSON, with the code as its first field`() throws {
        let path = try makeUsedDevice()
        for name in ["Device.json", "Apps.json", "Sessions.json"] {
            let text = try shell("cat '\(path)/\(name)'")
            #expect(text.hasPrefix("{\n  \"authentication\" : \""))
            let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect((object["authentication"] as? String)?.count == 64)
        }
        #expect(try shell("sed 1d '\(path)/Identity.pem'") == "pem\n")
    }

    @Test func `the code covers every byte`() throws {
        let authentication = RecordAuthentication(UIDKey(), device: "one", isRequired: true)
        let content = try DeviceRecords.encode(SessionRecord(current: 7))
        let stored = authentication.sealed(content, "Sessions.json")
        #expect(authentication.content(of: stored, "Sessions.json") == content)
        for place in stored.indices {
            var changed = stored
            changed[place] ^= 1
            #expect(authentication.content(of: changed, "Sessions.json") == nil, "byte \(place)")
            #expect(authentication.content(of: Array(stored[..<place]), "Sessions.json") == nil, "cut to \(place)")
        }
        #expect(authentication.content(of: stored + [10], "Sessions.json") == nil)
        #expect(authentication.content(of: content, "Sessions.json") == nil)
        #expect(authentication.content(of: [], "Sessions.json") == nil)
    }

    @Test func `the code is that of one device and one record`() throws {
        let uidKey = UIDKey()
        let content = try DeviceRecords.encode(SessionRecord())
        let stored = RecordAuthentication(uidKey, device: "one", isRequired: true).sealed(content, "Sessions.json")
        func isBelieved(_ key: UIDKey, _ device: String, _ name: FileName) -> Bool {
            RecordAuthentication(key, device: device, isRequired: false).content(of: stored, name) != nil
        }
        #expect(isBelieved(uidKey, "one", "Sessions.json"))
        #expect(!isBelieved(uidKey, "two", "Sessions.json"))
        #expect(!isBelieved(uidKey, "one", "Apps.json"))
        #expect(!isBelieved(UIDKey(), "one", "Sessions.json"))
    }

    // MARK: Attacks

    /// Lines of shell that change a record in a device's directory, beside which are another device, a clone and an
    /// older state of it.
    static let attacks = [
        "sed -i 's/Notes/Nodes/;s/\"format\" : 4/\"format\" : 2/;s/pem/pek/' RECORD", "truncate -s 40 RECORD",
        ": > RECORD", "echo nonsense > RECORD", "cp ../other/RECORD RECORD", "sed -i '/authentication/d' RECORD",
        "sed -i 's/\\(authentication[^0-9a-f]*\\)......../\\100000000/' RECORD",
    ]

    @Test(arguments: ["Device.json", "Apps.json", "Identity.pem"], attacks)
    func `a record that this device did not write is refused`(_ name: String, _ attack: String) throws {
        let path = try makeUsedDevice()
        _ = try makeUsedDevice("other")
        try shell("cd '\(path)' && " + attack.replacing("RECORD", with: name))
        let said = refusal(path)
        #expect(said?.kind == .damaged)
        #expect(said?.message.contains(name) == true)
    }

    @Test func `a registry in the place of the sessions, or of a clone, is refused`() throws {
        let path = try makeUsedDevice()
        do {
            let device = try DeviceDirectory.open(at: path)
            try device.clone(to: scratch["clone"], holding: try device.lock())
        }
        #expect(refusal(scratch["clone"]) == nil)
        for attack in ["cp ../clone/Apps.json Apps.json", "cp Sessions.json Apps.json"] {
            try shell("cd '\(path)' && cp Apps.json kept && \(attack)")
            #expect(refusal(path)?.kind == .damaged, "\(attack)")
            try shell("cd '\(path)' && mv kept Apps.json")
        }
        try shell("cp '\(scratch["clone/Sessions.json"])' '\(path)/Sessions.json'")
        #expect(try start(path).start == .unknown)
        // The record of the clone's own device is the device, with that UUID: nothing else of this one is then
        // believed.
        try shell("cp '\(scratch["clone/Device.json"])' '\(path)/Device.json'")
        #expect(refusal(path)?.kind == .damaged)
    }

    @Test(arguments: attacks + ["rm RECORD", "cp Apps.json RECORD", "rm RECORD; mkfifo RECORD"])
    func `sessions that this device did not record explain nothing, and the device starts`(_ attack: String) throws {
        let path = try makeUsedDevice()
        _ = try makeUsedDevice("other")
        #expect(try start(path).killed == [1])
        let forged = attack.replacing("s/Notes/Nodes/", with: "s/\"killed\" : \\[/&5,/")
        try shell("cd '\(path)' && " + forged.replacing("RECORD", with: "Sessions.json"))
        let session = try start(path)
        #expect(session.start == .unknown)
        #expect(session.killed == [] && session.powerLost == [] && session.used == nil)
        // No page bears its number: it is beyond every one that was counted.
        #expect(session.number > 1_000_000_000)
        let next = try start(path)
        #expect(next.start == .afterKill && next.killed == [session.number])
    }

    @Test func `a session that ends writes what it began with, whatever became of the file`() throws {
        let path = try makeUsedDevice()
        let device = try DeviceDirectory.open(at: path)
        do {
            let lock = try device.lock()
            #expect(try device.beginSession(holding: lock).number == 2)
            try shell("echo '{}' > '\(path)/Sessions.json'")
            try device.endSession(holding: lock)
        }
        let session = try start(path)
        #expect(session.start == .clean && session.number == 3 && session.killed == [1])
    }

    @Test func `a record that is too long is refused`() throws {
        let path = try makeUsedDevice()
        try shell("truncate -s 2M '\(path)/Device.json'")
        #expect(complaint { _ = try DeviceDirectory.open(at: path) } != nil)
        try shell("truncate -s 20M '\(path)/Sessions.json'")
    }

    @Test(arguments: [Int64.min, .max])
    func `wild numbers in an authentic record of sessions do not end the process`(number: Int64) throws {
        let record = SessionRecord.lost(at: HostTime(nanoseconds: number))
        #expect(record.current == (number < 0 ? 0 : UInt32.max) || record.current > 1_000_000_000)
    }

    // MARK: The format before

    @Test func `a device of the format before opens, and has codes from then on`() throws {
        let path = try makeUsedDevice()
        try makeOld(path)
        // Reading changes nothing.
        #expect(try DeviceDirectory.open(at: path).apps().count == 1)
        #expect(try shell("grep -c authentication '\(path)/Apps.json' || true") == "0\n")
        #expect(refusal(path) == nil)
        #expect(try shell("cd '\(path)' && grep -l authentication *.json | wc -l") == "3\n")
        #expect(try shell("sed 1d '\(path)/Identity.pem'") == "pem\n")
        let session = try start(path)
        #expect(session.start == .afterKill && session.killed == [1] && session.number == 2)
        // The codes are not to be stripped again.
        try shell("cd '\(path)' && sed -i '/authentication/d' Apps.json")
        #expect(refusal(path)?.kind == .damaged)
    }

    @Test(arguments: 0..<5)
    func `the codes of an old device come whole, wherever a process ends that gives them`(step: Int) throws {
        let path = try makeUsedDevice()
        try makeOld(path)
        try shell("cp -a '\(path)' '\(scratch["old"])'")
        #expect(refusal(path) == nil)
        // The records as they are replaced, one after the other.
        for name in ["Apps.json", "Sessions.json", "Identity.pem", "Device.json", "Keybag"][..<step] {
            try shell("cp '\(path)/\(name)' '\(scratch["old"])/\(name)'")
        }
        #expect(try DeviceDirectory.open(at: scratch["old"]).apps().count == 1)
        #expect(refusal(scratch["old"]) == nil)
        #expect(try shell("cd '\(scratch["old"])' && grep -l authentication *.json | wc -l") == "3\n")
        #expect(try start(scratch["old"]).killed == [1])
    }

    @Test func `an old keybag that is not the device's own strips no code`() throws {
        let path = try makeUsedDevice()
        let foreign = Keybag.create(passcode: nil, uidKey: UIDKey()).0
        let bytes = foreign.inVersion(1, uidKey: UIDKey()).encoded()
        try Data(bytes).write(to: URL(filePath: "\(path)/Keybag"))
        try shell("cd '\(path)' && sed -i '/authentication/d' Device.json Apps.json")
        #expect(refusal(path)?.kind == .damaged)
        try shell("rm '\(path)/Keybag'")
        #expect(refusal(path)?.kind == .damaged)
    }

    // MARK: Changes that failed halfway

    @Test func `files in which a change failed are kept with the end of the session`() throws {
        let path = try makeUsedDevice()
        let (whole, cut) = (FileIdentity.random(), FileIdentity.random())
        let device = try DeviceDirectory.open(at: path)
        do {
            let lock = try device.lock()
            _ = try device.beginSession(holding: lock)
            let files = [
                DisturbedFile(identity: whole, lengthIsUncertain: false),
                DisturbedFile(identity: cut, lengthIsUncertain: true),
            ]
            try device.endSession(unfinished: files, holding: lock)
        }
        for _ in 0..<2 {
            let history = try start(path).history
            #expect(history.ending(of: 2) == .orderly)
            #expect(history.isUnfinished(whole, in: 2) && !history.isLengthUnfinished(whole, in: 2))
            #expect(history.isUnfinished(cut, in: 2) && history.isLengthUnfinished(cut, in: 2))
            #expect(!history.isUnfinished(cut, in: 1) && !history.isUnfinished(.random(), in: 2))
        }
        #expect(UnfinishedChange("5 0011 length") == nil && UnfinishedChange("5") == nil)
        #expect(UnfinishedChange("-1 \(cut.text)") == nil && UnfinishedChange("1 \(cut.text) more") == nil)
    }

    @Test func `the latest of them are kept, as many as have a place on a full host`() throws {
        var record = SessionRecord(current: 1)
        for session in 1...3 as ClosedRange<UInt32> {
            record.current = session
            record.end(unfinished: (0..<600).map { _ in DisturbedFile(identity: .random(), lengthIsUncertain: true) })
        }
        #expect(
            record.unfinished?.map { $0.first } == Array(repeating: "2", count: 400) + Array(repeating: "3", count: 600)
        )
        // The record can be written on a full host.
        #expect(try DeviceRecords.encode(record).count < 256 << 10)
    }
}
