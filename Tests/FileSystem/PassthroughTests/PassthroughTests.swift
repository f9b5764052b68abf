// Tests of the passthrough through a real mount, by POSIX calls.

import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import Passthrough

@Suite(.serialized) struct PassthroughTests {
    @Test func aFileIsTheHostsFile() throws {
        try Mounted.run { mount in
            try mount.write("written here", to: "a")
            let file = try Descriptor.open(path: mount["a"], flags: O_RDWR)
            try file.synchronize()
            #expect(try mount.sourceText("a") == "written here")
            #expect(try mount.text("a") == "written here")
            let (shown, host) = (try HostPath.status(mount["a"]), try HostPath.status("\(mount.source)/a"))
            #expect(shown.inode == host.inode)
            #expect(shown.size == 12 && shown.permissions == host.permissions)
            try file.truncate(to: 7)
            #expect(try mount.text("a") == "written")
            #expect(try HostPath.status("\(mount.source)/a").size == 7)
        }
    }

    @Test func contentOfTheSourceIsRead() throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try Mounted.run(
            prepare: { source in
                try Descriptor.open(path: "\(source)/a", flags: O_CREAT | O_WRONLY, mode: 0o444).append(content)
            },
            body: { mount in
                let read = try HostPath.contents(mount["a"])
                #expect(read == content)
            })
    }

    @Test func aWriteIntoAFileOpenForWritingOnlyKeepsTheRestOfItsPage() throws {
        try Mounted.run(
            prepare: { source in
                let file = try Descriptor.open(path: "\(source)/a", flags: O_CREAT | O_WRONLY, mode: 0o644)
                try file.append(Array("0123456789".utf8))
            },
            body: { mount in
                let file = try Descriptor.open(path: mount["a"], flags: O_WRONLY)
                try Array("ab".utf8).withSpan { bytes throws(SystemError) in try file.write(bytes, to: 4) }
                try file.synchronize()
                #expect(try mount.sourceText("a") == "0123ab6789")
            })
    }

    @Test func appendedBytesComeBehindTheOthers() throws {
        try Mounted.run { mount in
            for word in ["one ", "two ", "three"] {
                let file = try Descriptor.open(path: mount["a"], flags: O_CREAT | O_WRONLY | O_APPEND, mode: 0o644)
                try file.append(Array(word.utf8))
            }
            #expect(try mount.text("a") == "one two three")
        }
    }

    @Test func namesComeAndGo() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            try HostPath.makeDirectory(mount["d"], mode: 0o750)
            #expect(unsafe rename(mount["a"], mount["d/b"]) == 0)
            #expect(try mount.sourceText("d/b") == "x")
            #expect(unsafe code(access(mount["a"], F_OK)) == ENOENT)
            #expect(unsafe code(rmdir(mount["d"])) == ENOTEMPTY)
            #expect(unsafe unlink(mount["d/b"]) == 0)
            #expect(unsafe rmdir(mount["d"]) == 0)
            #expect(try mount.names() == [])
            #expect(unsafe code(access("\(mount.source)/d", F_OK)) == ENOENT)
            #expect(unsafe code(access(mount[String(repeating: "n", count: 256)], F_OK)) == ENAMETOOLONG)
        }
    }

    @Test func aRenameReplacesOrKeepsAsItIsTold() throws {
        try Mounted.run { mount in
            try mount.write("a", to: "a")
            try mount.write("b", to: "b")
            let directory = try Descriptor.openDirectory(path: mount.path)
            #expect(throws: SystemError.exists) { try directory.rename("a", to: "b", in: directory, mode: .keeping) }
            try directory.rename("a", to: "b", in: directory, mode: .exchanging)
            #expect(try mount.text("a") == "b")
            try directory.rename("a", to: "b", in: directory)
            #expect(try mount.text("b") == "b")
            #expect(try mount.names() == ["b"])
        }
    }

    @Test func aRemovedFileLivesOnWhileItIsOpen() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount["a"], flags: O_CREAT | O_RDWR, mode: 0o600)
            #expect(unsafe unlink(mount["a"]) == 0)
            try file.append(Array("still here".utf8))
            try file.synchronize()
            #expect(try file.status().linkCount == 0)
            #expect(try file.status().size == 10)
        }
    }

    @Test func everyNameOfALargeDirectoryIsListedOnce() throws {
        let count = 3000
        let names = (0..<count).map { "entry-with-a-long-name-\($0)" }.sorted()
        try Mounted.run(
            prepare: { source in
                for name in names {
                    _ = try Descriptor.open(path: "\(source)/\(name)", flags: O_CREAT | O_WRONLY, mode: 0o600)
                }
            },
            body: { mount in
                #expect(try mount.names() == names)
                // With each entry's status.
                let listed = try shell("find '\(mount.path)' -type f -printf '%f %m\\n'").split(separator: "\n")
                    .sorted()
                #expect(listed.map(String.init) == names.map { "\($0) 600" })
                try shell("rm -r '\(mount.path)'/*")
                #expect(try mount.names() == [])
            })
    }

    @Test func hardLinksAreOneFile() throws {
        try Mounted.run(
            prepare: { source in
                try shell("echo x >'\(source)/a'; ln '\(source)/a' '\(source)/b'; ln -s nowhere '\(source)/s'")
            },
            body: { mount in
                #expect(try HostPath.status(mount["a"]).identity == HostPath.status(mount["b"]).identity)
                #expect(unsafe link(mount["b"], mount["c"]) == 0)
                #expect(try HostPath.status(mount["a"]).linkCount == 3)
                try mount.write("through one name", to: "c")
                #expect(try mount.text("a") == "through one name")
                #expect(unsafe linkat(AT_FDCWD, mount["s"], AT_FDCWD, mount["t"], 0) == 0)
                #expect(try HostPath.symbolicLinkTarget(mount["t"]) == "nowhere")
            })
    }

    @Test func symbolicLinksAndOtherKindsOfFiles() throws {
        try Mounted.run { mount in
            #expect(unsafe symlink("target with spaces", mount["s"]) == 0)
            let target = try HostPath.symbolicLinkTarget(mount["s"])
            #expect(target == "target with spaces")
            #expect(unsafe mkfifo(mount["f"], 0o600) == 0)
            #expect(try HostPath.status(mount["f"]).kind == .fifo)
            #expect(try HostPath.status("\(mount.source)/s", following: false).kind == .symbolicLink)
        }
    }

    @Test func statusIsChanged() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            try HostPath.changeMode(of: mount["a"], to: 0o6711)
            let file = try Descriptor.open(path: mount["a"], flags: O_RDONLY)
            let time = timespec(tv_sec: 1_000_000, tv_nsec: 123_456_789)
            try file.changeTimes(access: time, modification: time)
            for path in [mount["a"], "\(mount.source)/a"] {
                let status = try HostPath.status(path)
                #expect(status.permissions == 0o6711)
                #expect(status.modificationTime.tv_sec == time.tv_sec)
                #expect(status.modificationTime.tv_nsec == time.tv_nsec)
            }
        }
    }

    @Test func extendedAttributesAreTheHosts() throws {
        try Mounted.run { mount in
            try mount.write("x", to: "a")
            let attributes = AttributeHolder(path: mount["a"], following: true)
            try attributes.set(Array("user.color".utf8), to: Array("blue".utf8))
            #expect(try attributes.value(of: Array("user.color".utf8)) == Array("blue".utf8))
            #expect(try attributes.names().contains(Array("user.color".utf8)))
            let host = AttributeHolder(path: "\(mount.source)/a", following: true)
            #expect(try host.value(of: Array("user.color".utf8)) == Array("blue".utf8))
            try attributes.remove(Array("user.color".utf8))
            #expect(throws: SystemError.noAttribute) { try attributes.value(of: Array("user.color".utf8)) }
        }
    }

    @Test func aHoleStaysAHole() throws {
        try Mounted.run { mount in
            let file = try Descriptor.open(path: mount["a"], flags: O_CREAT | O_RDWR, mode: 0o644)
            let hole: Int64 = 8 << 20
            try Array("end".utf8).withSpan { bytes throws(SystemError) in try file.write(bytes, to: hole) }
            try file.synchronize()
            #expect(try file.nextData(from: 0) == hole)
            #expect(try file.nextHole(from: 0) == 0)
            #expect(try file.status().size == hole + 3)
            try file.allocate(0, count: 1 << 20, extending: false)
            try file.punchHole(0, count: 1 << 20)
            #expect(try file.nextData(from: 0) == hole)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root drops the kernel's caches"))
    func theKernelsReferencesAreCounted() throws {
        try Mounted.run(
            prepare: { source in
                for index in 0..<50 { try HostPath.makeDirectory("\(source)/\(index)", mode: 0o755) }
            },
            body: { mount in
                for _ in 0..<3 { try shell("find '\(mount.path)' -printf '%m'") }
                #expect(mount.fileSystem.nodes.count > 50)
                for index in 0..<50 { try HostPath.removeDirectory(mount["\(index)"]) }
                // FORGET has no reply for which rmdir(2) could wait.
                eventually("the end of the removed directories' nodes") { mount.fileSystem.nodes.count == 1 }
            })
    }
}
