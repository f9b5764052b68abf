// Tests of the table of mounts as a value: queries and refusals. Nothing is mounted.

import BackingStore
import ContainerVolume
import DataProtection
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import ContainerMount

struct MountRecordsTests {
    private func record(
        _ records: inout MountRecords, _ app: ContainerIdentifier, in fixture: MountFixture,
        groups: [ContainerIdentifier] = []
    ) throws -> MountRecord {
        let home = try fixture.home(app, groups: groups)
        let mount = ActiveMount(
            app: app, mountPoint: "/mnt/\(app)", options: MountOptions(), transport: .devFuse,
            serial: records.makeSerial())
        return MountRecord(
            mount: mount, place: try MountPlace(fixture.place), home: home, volume: try fixture.makeVolume(home),
            session: nil)
    }

    @Test func `mounts are listed in their order until they are detached`() throws {
        try MountFixture.run { fixture in
            var records = MountRecords()
            for app in [notes, mail] { records.add(try record(&records, app, in: fixture)) }
            #expect(records.active.map(\.app) == [notes, mail])
            #expect(records.active(at: ["/mnt/\(notes)"])?.mount.serial == 1)
            let detached = [records.detach(1), records.detach(1)]
            #expect(detached == [true, false], "once only")
            #expect(records.active.map(\.app) == [mail])
            #expect(records.active(at: ["/mnt/\(notes)"])?.mount.serial == nil)
            #expect(records.record(of: notes)?.isDetached == true)
            let removed = [records.remove(1), records.remove(1)]
            #expect(removed.map { $0?.mount.app } == [notes, nil])
            let isKnown = records.detach(1)
            #expect(!isKnown)
            #expect(records.all.map(\.mount.app) == [mail])
        }
    }

    @Test func `an app is refused while a mount of it is there, in sight or not`() throws {
        try MountFixture.run { fixture in
            var records = MountRecords()
            let first = try record(&records, notes, in: fixture)
            try records.requireFree(first.home, sharesSuperblock: true)
            records.add(first)
            func refusal() -> Complaint? {
                complaint { () throws(Complaint) in try records.requireFree(first.home, sharesSuperblock: true) }
            }
            #expect(refusal()?.kind == .alreadyMounted)
            #expect(refusal()?.message.contains("already mounted at /mnt/\(notes)") == true)
            _ = records.detach(1)
            #expect(refusal()?.message.contains("still in use") == true)
        }
    }

    @Test func `a group is refused a second superblock, not a second bind`() throws {
        try MountFixture.run { fixture in
            var records = MountRecords()
            records.add(try record(&records, notes, in: fixture, groups: [shared]))
            let home = try fixture.home(mail, groups: [shared])
            try records.requireFree(home, sharesSuperblock: true)
            let refusal = complaint { () throws(Complaint) in try records.requireFree(home, sharesSuperblock: false) }
            #expect(refusal?.kind == .groupMounted)
            #expect(refusal?.message.contains("\(notes)") == true, "it names the app that shows the group")
        }
    }
}
