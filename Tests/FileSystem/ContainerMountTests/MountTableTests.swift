// Tests of mounts: their start, their content and their end.

import ContainerVolume
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import ContainerMount
@testable import FuseBridge

@Suite(.serialized) struct MountTableTests {
    @Test func anAppsHomeIsShownAndItsContentIsStoredEncrypted() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            let mount = try table.mount(home, at: fixture.place, options: MountOptions())
            #expect(mount.mountPoint == fixture.place)
            try write("a plain secret", to: fixture.place + "/Documents/a")
            #expect(try read(fixture.place + "/Documents/a") == "a plain secret")
            #expect(try read(fixture.place + "/Notes.app/Info.plist") == "sealed")
            try table.unmount(fixture.place, lazily: false)
            #expect(try !read(fixture.backing(notes, "Documents/a")).contains("secret"))
            #expect(unsafe code(access(fixture.place + "/Documents", F_OK)) == ENOENT)

            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            #expect(try read(fixture.place + "/Documents/a") == "a plain secret")
            #expect(fixture.ended(count: 1) == [notes])
        }
    }

    @Test func theKernelsListNamesDeviceAndApp() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            let info = try MountInfo.all().last { $0.mountPoint == fixture.place }
            #expect(info?.source == "\(fixture.device):com.example.Notes")
            #expect(info?.type == "fuse.appcontainer")
            #expect(info?.options.contains("nosuid") == true)
            #expect(info?.options.contains("nodev") == true)
        }
    }

    @Test func aRefusalIsEPERM() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            #expect(unsafe code(mkdir(fixture.place + "/new", 0o755)) == EPERM)
            #expect(unsafe code(unlink(fixture.place + "/Notes.app/Info.plist")) == EPERM)
            #expect(unsafe code(mkdir(fixture.place + "/Documents/Inbox", 0o755)) == EPERM)
            #expect(throws: SystemError.notPermitted) {
                try write("x", to: fixture.place + "/Notes.app/Info.plist", flags: O_WRONLY)
            }
            #expect(
                unsafe code(mkdir(fixture.place + "/Documents/" + String(repeating: "n", count: 256), 0o755))
                    == ENAMETOOLONG)
        }
    }

    @Test func anAppHasOneMount() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            let second = complaint { () throws(Complaint) in
                _ = try table.mount(home, at: fixture.root + "/other", options: MountOptions())
            }
            #expect(second?.kind == .alreadyMounted)
            #expect(second?.message.contains(fixture.place) == true, "it names the first")
            let over = try fixture.home(mail)
            let taken = complaint { () throws(Complaint) in
                _ = try table.mount(over, at: fixture.place, options: MountOptions())
            }
            #expect(taken?.kind == .alreadyMounted)
        }
    }

    @Test func aMountPointThatIsNone() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            try write("", to: fixture.root + "/file")
            for path in [fixture.root + "/absent", fixture.root + "/file"] {
                let refused = complaint { () throws(Complaint) in
                    _ = try table.mount(home, at: path, options: MountOptions())
                }
                #expect(refused?.kind == .mountPoint)
                #expect(refused?.message.contains(path) == true)
            }
            let absent = complaint { () throws(Complaint) in try table.unmount(fixture.place, lazily: false) }
            #expect(absent?.kind == .notMounted)
        }
    }

    @Test func aMountPointThatWouldHideADevice() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            let root = fixture.root
            try shell(
                """
                cd '\(root)' && ln -s '\(fixture.device)' link && mkdir -p another/Containers bound
                touch another/Device.json another/UID.key
                """)
            if isRoot { try shell("mount --bind '\(fixture.device)' '\(root)/bound'") }
            defer { if isRoot { _ = try? shell("umount '\(root)/bound'") } }
            let places = [
                fixture.device, "\(fixture.device)/", "\(fixture.device)/data-\(notes)", root, "\(root)/link",
                "\(root)/link/data-\(notes)", "\(root)/another", "\(root)/another/Containers", "\(root)/run",
                "/proc/self/fdinfo", "",
            ]
            for place in places + (isRoot ? ["\(root)/bound", "\(root)/bound/data-\(notes)"] : []) {
                let refused = complaint { () throws(Complaint) in
                    _ = try table.mount(home, at: place, options: MountOptions())
                    try table.unmount(place, lazily: true)
                }
                #expect(refused?.kind == .mountPoint, "\(place)")
            }
            #expect(table.mounts.isEmpty)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
        }
    }

    /// The caller of either relies on what the report does: it frees an app that its mount held running.
    @Test(arguments: [true, false])
    func anEndThatAnotherThreadReportsIsWaitedFor(unmounting: Bool) throws {
        try MountFixture.run { fixture in
            let (begun, returned) = (Semaphore(), Semaphore())
            let isEarly = Mutex(false)
            let table = try fixture.makeTable {
                begun.signal()
                if returned.wait(milliseconds: 300) { isEarly.withLock { $0 = true } }
            }
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            // From outside: the thread that watches the list of mounts reports it.
            try shell("umount '\(fixture.place)' || fusermount3 -u '\(fixture.place)'")
            #expect(begun.wait(milliseconds: 10_000))
            if unmounting {
                let gone = complaint { () throws(Complaint) in try table.unmount(fixture.place, lazily: false) }
                #expect(gone?.kind == .notMounted)
            } else {
                table.review()
            }
            returned.signal()
            #expect(!isEarly.withLock { $0 }, "it returned while the end was being reported")
            #expect(fixture.ended(count: 1) == [notes])
        }
    }

    @Test func aMountInUseIsUnmountedLazilyOnly() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            let file = try Descriptor.open(
                path: fixture.place + "/Documents/a", flags: O_CREAT | O_RDWR, mode: 0o600)
            let busy = complaint { () throws(Complaint) in try table.unmount(fixture.place, lazily: false) }
            #expect(busy?.kind == .inUse)
            try table.unmount(fixture.place, lazily: true)
            #expect(fixture.ended(count: 1) == [notes])
            #expect(table.mounts.isEmpty)
            try file.append(Array("still".utf8))
            try file.synchronize()
            if isRoot {
                _ = try table.mount(home, at: fixture.place, options: MountOptions())
                #expect(try read(fixture.place + "/Documents/a") == "still", "the superblock is the same")
            } else {
                // A second session would be a second superblock over the same files.
                let again = complaint { () throws(Complaint) in
                    _ = try table.mount(home, at: fixture.place, options: MountOptions())
                }
                #expect(again?.kind == .alreadyMounted)
            }
        }
    }

    @Test func anUnmountFromOutsideIsNoticed() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            try Session.unmount(fixture.place, lazily: false)
            #expect(fixture.ended(count: 1) == [notes])
            #expect(table.mounts.isEmpty)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            #expect(try read(fixture.place + "/Notes.app/Info.plist") == "sealed")
        }
    }

    @Test func aReadOnlyMountIsEROFS() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            var options = MountOptions()
            options.readOnly = true
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: options)
            #expect(unsafe code(mkdir(fixture.place + "/Documents/d", 0o755)) == EROFS)
            #expect(try read(fixture.place + "/Notes.app/Info.plist") == "sealed")
        }
    }

    @Test func aMountHasTheTransportThatItAsksForElseTheTables() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable(transport: .devFuse)
            let mount = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            #expect(mount.transport == .devFuse && table.mounts.map(\.transport) == [.devFuse])
            var options = MountOptions()
            options.transport = .devFuse
            let other = fixture.root + "/other"
            let second = try table.mount(try fixture.home(mail), at: other, options: options)
            #expect(second.transport == .devFuse)
        }
    }

    @Test(.enabled(if: isRoot)) func rootsMountsHaveTheTransportOfTheFirst() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable(transport: .devFuse)
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            let other = fixture.root + "/other"
            let home = try fixture.home(mail)
            var options = MountOptions()
            options.transport = .ioUring
            let refused = complaint { [options] () throws(Complaint) in
                _ = try table.mount(home, at: other, options: options)
            }
            #expect(refused?.kind == .fuseConfiguration)
            #expect(refused?.message.contains("over dev-fuse") == true, "it names the first mount's")
            options.transport = .automatic
            #expect(try table.mount(home, at: other, options: options).transport == .devFuse)
        }
    }

    @Test func aGroupIsOneSuperblock() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(
                try fixture.home(notes, groups: [shared]), at: fixture.place, options: MountOptions())
            let other = fixture.root + "/other"
            let home = try fixture.home(mail, groups: [shared])
            guard isRoot else {
                let refused = complaint { () throws(Complaint) in
                    _ = try table.mount(home, at: other, options: MountOptions())
                }
                #expect(refused?.kind == .groupMounted)
                return
            }
            _ = try table.mount(home, at: other, options: MountOptions())
            try write("from Notes", to: "\(fixture.place)/Groups/\(shared)/a")
            #expect(try read("\(other)/Groups/\(shared)/a") == "from Notes")
            let one = try HostPath.status("\(fixture.place)/Groups/\(shared)/a")
            let two = try HostPath.status("\(other)/Groups/\(shared)/a")
            #expect(one.inode == two.inode)
            #expect(one.raw.st_dev == two.raw.st_dev)
        }
    }

    @Test func aGroupAppearsOnALiveMount() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            let path = "\(fixture.place)/Groups/\(shared)"
            #expect(unsafe code(access(path, F_OK)) == ENOENT)
            table.show(try fixture.home(notes, groups: [shared]))
            // Notifications reach the kernel by threads of their own.
            for superblock in table.superblocks { superblock.session.notifications.drain() }
            try write("x", to: path + "/a")
            #expect(try read(path + "/a") == "x")
        }
    }

    @Test func whatAKilledDaemonLeftIsClearedByTheNextMount() throws {
        try MountFixture.run { fixture in
            let killed = try fixture.makeTable()
            let home = try fixture.home(notes)
            _ = try killed.mount(home, at: fixture.place, options: MountOptions())
            _ = try killed.mount(try fixture.home(mail), at: fixture.root + "/other", options: MountOptions())
            try write("kept", to: fixture.place + "/Documents/a")
            killed.abandon()
            #expect(unsafe code(access(fixture.place + "/Documents/b", F_OK)) == ENOTCONN)

            let table = try fixture.makeTable()
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            #expect(try read(fixture.place + "/Documents/a") == "kept")
            let left = try MountInfo.all().filter { $0.mountPoint == fixture.root + "/other" }
            #expect(left.isEmpty, "other mounts of the device are cleared as well")
        }
    }

    @Test func aHomeIsMountedAgainAfterItsConnectionHasFailed() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            let home = try fixture.home(notes)
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            try write("kept", to: fixture.place + "/Documents/a")
            let session = try #require(table.superblocks.first).session
            session.fail("a test says so", isReader: false)
            session.waitUntilEnded()
            #expect(unsafe code(access(fixture.place + "/Documents/b", F_OK)) == ENOTCONN)
            // A bind is still in the table; a mount of its own has ended with its session.
            if isRoot { try table.unmount(fixture.place, lazily: false) }
            _ = try table.mount(home, at: fixture.place, options: MountOptions())
            #expect(try read(fixture.place + "/Documents/a") == "kept")
        }
    }

    @Test func aShutDownEndsWhatIsInUse() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            let file = try Descriptor.open(
                path: fixture.place + "/Documents/a", flags: O_CREAT | O_RDWR, mode: 0o600)
            try file.append(Array("written".utf8))
            table.shutDown()
            #expect(fixture.ended(count: 1) == [notes])
            #expect(throws: SystemError(code: ENOTCONN)) { try file.synchronize() }
            #expect(unsafe code(access(fixture.root + "/run/private", F_OK)) == ENOENT)
            let home = try fixture.home(notes)
            let refused = complaint { () throws(Complaint) in
                _ = try table.mount(home, at: fixture.place, options: MountOptions())
            }
            #expect(refused?.kind == .shuttingDown)
            let next = try fixture.makeTable()
            _ = try next.mount(home, at: fixture.place, options: MountOptions())
            #expect(try read(fixture.place + "/Documents/a") == "written")
        }
    }
}

extension MountTable {
    /// Stops serving and leaves everything mounted, like a killed daemon.
    func abandon() {
        let (watch, sessions) = state.withLock { state in
            defer {
                state.watch = nil
                state.records = MountRecords()
                state.device = nil
            }
            return (state.watch, [state.device?.session] + state.records.all.map(\.session))
        }
        watch?.stop()
        for session in sessions { session?.stop() }
    }
}
