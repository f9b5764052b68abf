// The kernel's list of mounts (proc_pid_mountinfo(5)).

import Testing

@testable import Platform

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

    @Test func `a name that takes the blank after it into one character ends before the blank`() throws {
        let info = try #require(MountInfo(line: "62 29 0:51 / /mnt/x\u{600} rw - fuse.appcontainer a:b rw"))
        #expect(info.mountPoint == "/mnt/x\u{600}")
        #expect(info.source == "a:b")
    }

    @Test(arguments: ["", "62 29 0:51 / /m"])
    func `a line that ends too soon is no mount`(line: String) {
        #expect(MountInfo(line: line) == nil)
    }

    @Test func `the kernel's own list can be read`() throws {
        #expect(try MountInfo.all().contains { $0.mountPoint == "/proc" })
    }

    @Test(arguments: ["/a/device", "/a b/#1", "/tab\tand\nline", "/back\\slash", "/ünd"])
    func aSourceIsFoundAsTheKernelWritesIt(source: String) throws {
        let encoded = String(decoding: MountInfo.encoded(source, escaped: " \t\n\\#"), as: UTF8.self)
        #expect(!encoded.contains { " \t\n#".contains($0) })
        #expect(MountInfo.decoded(encoded) == source)
        let others = (0..<3).map { "\($0) 1 0:1 / /m\($0) rw - fuse other:\($0) rw" }
        let own = "9 1 0:2 / /mine rw - fuse \(encoded):app rw"
        for lines in [[own] + others, others + [own], others[..<2] + [own] + others[2...]] {
            let found = MountInfo.lines(
                in: Array((lines.joined(separator: "\n") + "\n").utf8),
                with: MountInfo.encoded(source, escaped: " \t\n\\#"))
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == [own])
        }
    }

    @Test func theMountsFromASourceAreAmongAll() throws {
        let all = try MountInfo.all()
        let source = try #require(all.first { !$0.source.isEmpty }?.source)
        let wanted = all.filter { $0.source.hasPrefix(source) }
        #expect(try MountInfo.all(from: source) == wanted)
        let one = try #require(all.last)
        #expect(try MountInfo.numbered(one.number) == one)
        #expect(try MountInfo.numbered(.max) == nil)
        #expect(try MountInfo.all(at: one.mountPoint) == all.filter { $0.mountPoint.hasPrefix(one.mountPoint) })
    }

    @Test func `the kernel describes one mount as its list shows it`() throws {
        // A kernel before 6.13 has the list alone.
        guard let numbers = MountNumber.all(), numbers.contains(where: { $0.info != nil }) else { return }
        let described = numbers.compactMap(\.info)
        let listed = try MountInfo.all()
        #expect(described == listed.filter { mount in described.contains { $0.number == mount.number } })
        let root = try Descriptor.openDirectory(path: "/")
        #expect(root.mountInfo == listed.last { $0.mountPoint == "/" })
        #expect(MountInfo.topmost(at: "/proc")?.type == "proc")
        #expect(MountInfo.topmost(at: "/proc/self") == nil)
    }
}
