// The kernel's list of mounts (proc_pid_mountinfo(5)).

import Platform
import Testing

@Suite struct MountInfoTests {
    @Test func `reads a line, with its octal escapes`() throws {
        let line =
            #"62 29 0:51 /com.example.Notes /mnt/my\040notes\134x rw,nosuid,nodev shared:3 master:1 - fuse.appcontainer /srv/my\040phone:com.example.Notes rw,user_id=0"#
        let info = try #require(MountInfo(line: line))
        #expect(info.root == "/com.example.Notes")
        #expect(info.mountPoint == #"/mnt/my notes\x"#)
        #expect(info.options == ["rw", "nosuid", "nodev"])
        #expect(info.type == "fuse.appcontainer")
    }

    @Test(arguments: ["", "62 29 0:51 / /m"])
    func `a line that ends too soon is no mount`(line: String) {
        #expect(MountInfo(line: line) == nil)
    }

    @Test func `the kernel's own list can be read`() throws {
        #expect(try MountInfo.all().contains { $0.mountPoint == "/proc" })
    }
}
