// Tests of a mounted volume that need the kernel's own requests.

import ContainerVolume
import Glibc
import Platform
import SandboxModel
import Testing

@testable import ContainerMount

@Suite(.serialized) struct VolumeFileSystemTests {
    private func onMount(_ body: (String) throws -> Void) throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            try body(fixture.place + "/Documents")
        }
    }

    @Test func dataIsFoundInAFileWithUnwrittenPages() throws {
        try onMount { documents in
            let file = try Descriptor.open(path: documents + "/a", flags: O_CREAT | O_RDWR, mode: 0o600)
            try file.truncate(to: 10 << 20)
            let page = PageBuffer(count: 4096)
            page.store(UInt64(1), at: 0)
            try file.write(from: page, count: 4096, to: 8 << 20)
            #expect(try file.nextData(from: 0) == 8 << 20)
            #expect(try file.nextHole(from: 8 << 20) == 8 << 20 | 4096)
            #expect(try file.nextData(from: 8 << 20 | 4096) == nil)
        }
    }

    @Test func manyEntriesAreListedOnce() throws {
        try onMount { documents in
            let names = (0..<3000).map { "entry \($0)" }
            for name in names { try write("", to: "\(documents)/\(name)") }
            for _ in 0..<2 {
                let reader = DirectoryReader(
                    try Descriptor.open(path: documents, flags: O_RDONLY | O_DIRECTORY), bufferSize: 4096)
                var listed: [String] = []
                while let entry = try reader.next() { listed.append(entry.name.text) }
                #expect(listed.sorted() == names.sorted())
            }
        }
    }

    @Test func readersAndWritersOnManyThreads() throws {
        try onMount { documents in
            let threads = try (0..<6).map { thread in
                try HostThread(name: "client-\(thread)") {
                    for index in 0..<50 {
                        let path = "\(documents)/\(thread).\(index % 5)"
                        let text = String(repeating: "\(thread) \(index) ", count: 3000)
                        try? write(text, to: path)
                        if (try? read(path)) != text { Issue.record("\(path) does not read back") }
                    }
                }
            }
            for thread in threads { thread.join() }
        }
    }

    @Test func flagsAttributesAndFigures() throws {
        try onMount { documents in
            try write("x", to: documents + "/a")
            let file = try Descriptor.open(path: documents + "/a", flags: O_RDWR)
            let attributes = AttributeHolder(file: file)
            try attributes.set(Array("user.color".utf8), to: Array("red".utf8))
            #expect(try attributes.value(of: Array("user.color".utf8)) == Array("red".utf8))
            #expect(throws: SystemError.notSupported) {
                try attributes.set(Array("other.a".utf8), to: [1])
            }
            #expect(try file.filesystemStatistics().f_blocks > 0)
            try file.setInodeFlags(0x40)
            #expect(try file.inodeFlags() & 0x40 != 0)
        }
    }
}
