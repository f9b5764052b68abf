// Tests of restored data for apps that are not installed: it waits for their installation or removal.

import BackingStore
import BackupModel
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

extension BackupTests {
    @Test func `data of an app that is not installed waits for it, also across a restart`() throws {
        let device = try make()
        try write(device, "Documents/note", Array("hello".utf8))
        try write(device, "shared", Array("ours".utf8), in: .shared(group))
        let (backup, _) = try backUp(device)
        let place = Scratch()
        do {
            let other = try place.makeDevice()
            let tally = try restore(backup, onto: other)
            #expect(tally.waiting == [notes] && tally.groups == [group] && tally.apps == [])
            #expect(other.apps == [])
            try other.shutDown()
        }
        let other = try place.boot()
        #expect(try other.check().problems == [])
        let app = try other.install(sampleApp, groups: [group])
        #expect(other.registry.waiting == [])
        #expect(try other.text(of: other.backingPath(of: notes, .data) + "/Documents/note") == "hello")
        #expect(try other.text(of: other.backingPath(of: notes, .shared(group)) + "/shared") == "ours")
        #expect(
            try other.text(
                of: other.backingPath(of: notes, .data) + "/.com.apple.mobile_container_manager.metadata.plist"
            )
            .contains(app.data.text))
    }

    @Test func `waiting data is backed up, and is removed with the groups that came with it`() throws {
        let device = try make()
        try write(device, "Documents/note", Array("hello".utf8))
        try write(device, "shared", Array("ours".utf8), in: .shared(group))
        let (backup, _) = try backUp(device)
        let place = Scratch()
        let other = try place.makeDevice()
        _ = try restore(backup, onto: other)
        #expect(other.registry.waitingIdentifiers == [notes.text, group.text])
        let (again, _) = try backUp(other)
        #expect(again.item("AppDomain-com.example.Notes/Documents/note")?.content == Array("hello".utf8))
        #expect(again.item("AppDomainGroup-group.com.example/shared")?.content == Array("ours".utf8))
        #expect(try other.backupApps(notes).map(\.groups) == [[group]])

        let places = other.registry.places
        try other.uninstall(notes)
        #expect(other.registry == AppRegistry())
        for (kind, uuid) in places {
            #expect(throws: SystemError.noEntry) { _ = try other.directory.container(kind, uuid) }
        }
        #expect(try other.check().problems == [])
        #expect(complaint { try other.uninstall(notes) }?.kind == .unknownApp)
    }

    @Test func `an installed app is what its identifier means, though a group of that name waits`() throws {
        let device = try make()
        var registry = device.registry
        let waiting = WaitingContainer(
            kind: .group, identifier: notes, uuid: ContainerUUID(), owner: 1, ownerGroup: 1)
        registry.waiting.append(waiting)
        try device.installedApps.changing { (changes) throws(Complaint) in try changes.replace(with: registry) }
        try device.uninstall(notes)
        #expect(device.registry == AppRegistry(waiting: [waiting]))
        try device.uninstall(notes)
        #expect(device.registry == AppRegistry())
    }

    @Test(.enabled(if: isRoot)) func `waiting data becomes its new user's, except files of another user`() throws {
        let device = try make()
        try write(device, "Documents/note", [1])
        try write(device, "Documents/strange", [2])
        try shell("chown 4321:4321 '\(data(device))/Documents/strange'; chmod 1755 '\(data(device))/Documents/note'")
        try shell("setfattr -n user.appcontainer.mode -v 6000 '\(data(device))/Documents/note'")
        let (backup, _) = try backUp(device)
        let place = Scratch()
        let other = try place.makeDevice()
        _ = try restore(backup, onto: other)
        _ = try other.install(sampleApp, groups: [group], owner: ContainerOwner(user: 1234, group: 5678))
        let documents = try data(other) + "/Documents"
        let found = try shell("cd '\(documents)'; stat -c '%n %u:%g %a' . .. note strange")
        #expect(found == ". 1234:5678 755\n.. 1234:5678 755\nnote 1234:5678 1755\nstrange 4321:4321 640\n")
        let kept = "getfattr --absolute-names --only-values -n user.appcontainer.mode '\(documents)/note'"
        #expect(try shell(kept) == "6000")
    }
}
