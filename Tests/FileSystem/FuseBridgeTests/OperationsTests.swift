// Tests of every request, by system calls on a real mount.

import CPlatform
import FuseBridge
import Glibc
import Platform
import SandboxModel
import Testing

@Suite(.serialized) struct OperationsTests {
    @Test func contentIsReadBackAsItWasWritten() throws {
        try Mounted.run { mount in
            try mount.write("hello", to: "a")
            try mount.write(" world", to: "a", flags: O_WRONLY | O_APPEND)
            #expect(try mount.text("a") == "hello world")
            let large = String(repeating: "0123456789abcdef", count: 300_000)
            try mount.write(large, to: "large")
            #expect(try mount.text("large") == large)
            try mount.write("short", to: "large")
            #expect(try mount.text("large") == "short")
        }
    }

    @Test func contentReachesTheFilesystemAtFsync() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            try file.append(Array("dirty".utf8))
            #expect(mount.fileSystem.calls("write") == 0, "the page cache holds it")
            try file.synchronize()
            #expect(mount.fileSystem.calls("write") == 1)
            #expect(mount.fileSystem.calls("fsync") == 1)
        }
    }

    @Test func contentComesInLargeRequests() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            try file.append([UInt8](repeating: 7, count: 8 << 20))
            try file.synchronize()
            #expect(mount.fileSystem.calls("write") <= 16, "1 MiB each, but for the first and the last")
        }
    }

    @Test func aDirectoryListsWhatWasMade() throws {
        try Mounted.run { mount in
            try #require(unsafe mkdir(mount.path("d"), 0o755) == 0)
            let names = (0..<500).map { "a rather long name, so that one buffer does not hold them all \($0)" }
            for name in names { try mount.write("x", to: "d/\(name)") }
            #expect(try mount.names("d") == names)
            #expect(try mount.names("d") == names, "from the kernel's cache")
            let lists = mount.fileSystem.calls("readdir") + mount.fileSystem.calls("readdirplus")
            #expect(try mount.names("d") == names)
            #expect(
                mount.fileSystem.calls("readdir") + mount.fileSystem.calls("readdirplus") == lists,
                "the kernel opens directories by itself and keeps their lists")
        }
    }

    @Test func namesMoveLinkAndGo() throws {
        try Mounted.run { mount in
            let a = mount.path("a")
            let b = mount.path("b")
            try mount.write("a", to: "a")
            try mount.write("b", to: "b")
            let directory = try Descriptor.open(path: mount.path, flags: O_RDONLY | O_DIRECTORY)
            #expect(throws: SystemError.exists) {
                try directory.rename("a", to: "b", in: directory, mode: .keeping)
            }
            try directory.rename("a", to: "b", in: directory, mode: .exchanging)
            #expect(try mount.text("a") == "b")
            try directory.rename("a", to: "b", in: directory)
            #expect(try mount.text("b") == "b")
            #expect(unsafe code(access(a, F_OK)) == ENOENT)
            try #require(unsafe link(b, a) == 0)
            #expect(try HostPath.status(a).linkCount == 2)
            try #require(unsafe unlink(b) == 0)
            #expect(try mount.text("a") == "b")
            try #require(unsafe symlink("over/there", b) == 0)
            #expect(try directory.symbolicLinkTarget("b") == Array("over/there".utf8))
            try #require(unsafe mkfifo(mount.path("fifo"), 0o600) == 0)
            #expect(try HostPath.status(mount.path("fifo")).kind == .fifo)
            try #require(unsafe mkdir(mount.path("d"), 0o700) == 0)
            try mount.write("x", to: "d/x")
            #expect(unsafe code(rmdir(mount.path("d"))) == ENOTEMPTY)
            try #require(unsafe unlink(mount.path("d/x")) == 0)
            try #require(unsafe rmdir(mount.path("d")) == 0)
            try directory.synchronize()
            #expect(mount.fileSystem.calls("fsyncdir") == 1)
        }
    }

    @Test func attributesOfAFileChange() throws {
        try Mounted.run { mount in
            try mount.write("12345", to: "a")
            let a = mount.path("a")
            let file = try Descriptor.open(path: a, flags: O_RDWR)
            try file.changeMode(0o640)
            try file.truncate(to: 3)
            let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 123_456_789)
            try file.changeTimes(access: time, modification: time)
            let status = try HostPath.status(a)
            #expect(status.permissions == 0o640)
            #expect(status.size == 3)
            #expect(status.modificationTime.tv_nsec == 123_456_789)
            #expect(try mount.text("a") == "123")
        }
    }

    @Test func extendedAttributesOfAnyName() throws {
        try Mounted.run { mount in
            try mount.write("", to: "a")
            let file = try Descriptor.open(path: mount.path("a"), flags: O_RDONLY)
            let attributes = AttributeHolder(file: file)
            #expect(throws: SystemError.noAttribute) { try attributes.value(of: Array("user.a".utf8)) }
            try attributes.set(Array("user.a".utf8), to: Array("value".utf8))
            try attributes.set(Array("com.apple.metadata:b".utf8), to: [1, 2, 3])
            #expect(try attributes.value(of: Array("user.a".utf8)) == Array("value".utf8))
            #expect(try Set(attributes.names()) == [Array("user.a".utf8), Array("com.apple.metadata:b".utf8)])
            try attributes.remove(Array("user.a".utf8))
            #expect(throws: SystemError.noAttribute) { try attributes.remove(Array("user.a".utf8)) }
            #expect(try attributes.names() == [Array("com.apple.metadata:b".utf8)])
        }
    }

    @Test func flagsOfFilesAndDirectories() throws {
        try Mounted.run { mount in
            try mount.write("", to: "a")
            try #require(unsafe mkdir(mount.path("d"), 0o755) == 0)
            for name in ["a", "d"] {
                let file = try Descriptor.open(path: mount.path(name), flags: O_RDONLY)
                #expect(try file.inodeFlags() == 0)
                try file.setInodeFlags(0x40)
                #expect(try file.inodeFlags() == 0x40, "no dump")
            }
        }
    }

    @Test func spaceHolesAndCopies() throws {
        try Mounted.run { mount in
            try mount.write("0123456789", to: "a")
            let a = try Descriptor.open(path: mount.path("a"), flags: O_RDWR)
            #expect(throws: SystemError.notSupported) { try a.punchHole(0, count: 4) }
            try a.allocate(0, count: 20, extending: true)
            #expect(try a.status().size == 20)
            #expect(try a.nextData(from: 5) == 5)
            #expect(try a.nextHole(from: 5) == 20)
            #expect(try a.nextData(from: 20) == nil)
            let b = try Descriptor.open(path: mount.path("b"), flags: O_CREAT | O_RDWR, mode: 0o644)
            var from: Int64 = 2
            var to: Int64 = 1
            #expect(unsafe platform_copy_file_range(a.number, &from, b.number, &to, 5) == 5)
            #expect(try mount.text("b") == "\u{0}23456")
            #expect(mount.fileSystem.calls("copy") == 1)
            let statistics = try a.filesystemStatistics()
            #expect(statistics.f_blocks == 1000)
            #expect(statistics.f_bavail == 500)
            #expect(statistics.f_namemax == 255)
        }
    }

    @Test func mappingsAndLocksAreTheKernels() throws {
        try Mounted.run { mount in
            try mount.write("0123456789", to: "a")
            let file = try Descriptor.open(path: mount.path("a"), flags: O_RDWR)
            let other = try Descriptor.open(path: mount.path("a"), flags: O_RDWR)
            #expect(try file.tryLock())
            #expect(try !other.tryLock())
            let mapping = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
            try #require(unsafe mapping != MAP_FAILED)
            unsafe mapping!.storeBytes(of: UInt8(ascii: "X"), as: UInt8.self)
            unsafe msync(mapping, 4096, MS_SYNC)
            unsafe munmap(mapping, 4096)
            #expect(try mount.text("a") == "X123456789")
        }
    }

    @Test func anUnlinkedFileWorksUntilItIsClosed() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            try #require(unsafe unlink(mount.path("a")) == 0)
            try file.append(Array("still".utf8))
            try file.synchronize()
            #expect(try file.status().size == 5)
            #expect(try file.status().linkCount == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "opening by a handle takes root"))
    func aHandleReachesAFileWithoutARequest() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o600)
            let status = try file.status()
            let node = KernelNode(rawValue: UInt64(status.inode))
            let root = try Descriptor.open(path: mount.path, flags: O_RDONLY | O_DIRECTORY)
            try #require(unsafe unlink(mount.path("a")) == 0)
            let calls = mount.fileSystem.calls
            let opened = try node.handle(generation: MemoryFileSystem.generation).open(in: root)
            #expect(AttributeHolder(file: opened).passInodeLock())
            #expect(mount.fileSystem.calls == calls)
            #expect(try opened.status().inode == status.inode)
            #expect(throws: SystemError.stale, "another file of that number") {
                _ = try node.handle(generation: MemoryFileSystem.generation + 1).open(in: root)
            }
        }
    }

    @Test func passingAnInodesLockLeavesAFileAsItWas() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount.path("a"), flags: O_CREAT | O_RDWR, mode: 0o640)
            let before = try file.status()
            #expect(AttributeHolder(file: file).passInodeLock())
            #expect(mount.fileSystem.calls("setxattr") == 0)
            #expect(try file.status().permissions == before.permissions)
        }
    }
}
