// Mounted homes, found in the kernel's list of mounts.

import Platform
import Testing

@testable import Daemon

@Suite struct MountedHomeTests {
    @Test func `the source of a mount names device and app`() throws {
        let line =
            #"62 29 0:51 /com.example.Notes /mnt/my\040notes\134x rw,nosuid,nodev shared:3 master:1 - fuse.appcontainer /srv/my\040phone:com.example.Notes rw,user_id=0"#
        let info = try #require(MountInfo(line: line))
        let home = try #require(MountedHome(info))
        #expect(home.device == "/srv/my phone")
        #expect(home.app == "com.example.Notes")
        #expect(home.mountPoint == #"/mnt/my notes\x"#)
    }

    @Test func `a device's path may hold a colon`() throws {
        let line = "62 29 0:51 / /m rw - fuse.appcontainer /a:b/c:com.example.Notes rw"
        #expect(try MountedHome(#require(MountInfo(line: line)))?.device == "/a:b/c")
    }

    @Test(arguments: [
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw", "22 1 0:5 / / rw - fuse.gocryptfs /a:b rw",
        "22 1 0:5 / / rw - fuse.appcontainer nothing rw",
    ])
    func `other mounts are no homes`(line: String) throws {
        #expect(try MountedHome(#require(MountInfo(line: line))) == nil)
    }
}
