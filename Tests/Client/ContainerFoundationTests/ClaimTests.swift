// Tests of claims, and of strangers' files in the directory in which processes meet.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import ContainerFoundation

@Suite struct ClaimTests {
    private let place: Workplace
    private let file: URL

    init() throws {
        place = try Workplace()
        file = try place.file("file")
    }

    /// A meeting directory of its own, and short limits.
    private func apart(_ body: (String) throws -> Void) throws {
        let host = place("host").path
        try FileManager.default.createDirectory(atPath: host, withIntermediateDirectories: true)
        var limits = CoordinationLimits()
        (limits.greeting, limits.stopped, limits.longest) = (0.2, 0.7, 1.5)
        try CoordinationPlace.$hostDirectory.withValue(host) {
            try CoordinationLimits.$current.withValue(limits) {
                _ = try MeetingDirectory(of: .host)
                try body("\(host)/.FileCoordination-\(geteuid())")
            }
        }
    }

    private func names(in meeting: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: meeting)) ?? []
    }

    private func write() -> Int? {
        var error: NSError?
        unsafe NSFileCoordinator().coordinate(writingItemAt: file, error: &error) { _ in }
        return error?.code
    }

    private func record(_ sequence: Int, _ accesses: [FileAccess], overtaken: [Int] = []) -> ClaimRecord {
        ClaimRecord(sequence: sequence, purpose: "\(sequence)", accesses: accesses, overtaken: overtaken)
    }

    @Test(arguments: [
        ("", true), ("a/b", true), ("\u{301}a/b", true), ("/a", false), ("a//b", false), ("a/..", false),
        ("./a", false),
        // To Swift the slashes beside these are no characters of their own.
        ("../\u{301}a", false), ("a\u{600}/../\u{301}b", false),
    ])
    func aPathThatLeadsOutIsNobodys(path: String, isValid: Bool) {
        #expect(record(1, [FileAccess(.write, path)]).isValid == isValid)
    }

    @Test(arguments: [
        (FileAccess(.read, "a"), FileAccess(.read, "a"), false),
        (FileAccess(.read, "a"), FileAccess(.write, "a"), true),
        (FileAccess(.write, "a"), FileAccess(.write, "a"), true),
        (FileAccess(.write, "a"), FileAccess(.write, "b"), false),
        (FileAccess(.write, "a"), FileAccess(.write, "a/b"), false),
        (FileAccess(.write, "a", options: 1), FileAccess(.write, "a/b"), true),
        (FileAccess(.write, "a", options: 2), FileAccess(.read, "a/b/c"), true),
        (FileAccess(.write, "", options: 8), FileAccess(.read, "a"), true),
        (FileAccess(.write, "a", options: 8), FileAccess(.read, "ab"), false),
        (FileAccess(.write, "a/b", options: 1), FileAccess(.read, "a"), false),
        (FileAccess(.write, "a", options: 4), FileAccess(.read, "a/b"), false),
    ])
    func `a writer and another one of its item exclude each other`(one: FileAccess, other: FileAccess, conflict: Bool) {
        #expect(one.conflicts(with: other) == conflict)
        #expect(other.conflicts(with: one) == conflict)
    }

    @Test func `the earlier one goes first, unless it was overtaken`() {
        let write = [FileAccess(.write, "a")]
        let (first, second) = (record(1, write), record(2, write))
        #expect(!first.waits(for: second))
        #expect(second.waits(for: first))
        let third = record(3, write, overtaken: [2])
        #expect(!third.waits(for: second))
        #expect(second.waits(for: third))
        #expect(third.waits(for: first))
    }

    @Test(arguments: ["..", "a/..", "/a", "a//b", "a/", "./a", "a/./b", "a\0b", String(repeating: "a", count: 5000)])
    func `no path leads out of the container`(path: String) {
        #expect(!FileAccess.isValid(path))
        #expect(!ItemMove(from: "a", to: path).isValid)
        #expect(!ItemMove(from: path, to: nil).isValid)
    }

    @Test func `nothing is left behind`() throws {
        try apart { meeting in
            #expect(write() == nil)
            #expect(names(in: meeting) == ["lock"])
            let presenter = TestPresenter(file)
            #expect(names(in: meeting).count == 2)
            NSFileCoordinator.removeFilePresenter(presenter)
            #expect(names(in: meeting) == ["lock"])
        }
        // Neither are threads; those of other tests end too.
        func listening() -> Int {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return threads.count {
                (try? text(of: URL(fileURLWithPath: "/proc/self/task/\($0)/comm"))) == "coordination\n"
            }
        }
        for _ in 0..<1000 where listening() > 0 { usleep(10_000) }
        #expect(listening() == 0)
    }

    @Test func `files of processes that have ended are removed, and keep nobody waiting`() throws {
        try apart { meeting in
            let claim = try JSONEncoder().encode(record(1, [FileAccess(.write, String(file.path.dropFirst()))]))
            try claim.write(to: URL(fileURLWithPath: "\(meeting)/dead.1.claim"))
            try claim.write(to: URL(fileURLWithPath: "\(meeting)/dead.2.claim.new"))
            let socket = try Descriptor.listening(atSocket: "\(place.path)/socket", permissions: 0o600)
            _ = consume socket
            try FileManager.default.moveItem(atPath: "\(place.path)/socket", toPath: "\(meeting)/dead.presenter")
            #expect(write() == nil)
            #expect(names(in: meeting) == ["lock"])
        }
    }

    @Test(arguments: [
        "", "{", "[]", "\u{0}", #"{"sequence":-1,"purpose":"","accesses":[],"overtaken":[]}"#,
        #"{"sequence":1,"purpose":"","accesses":[{"kind":"write","path":"../a","options":1}],"overtaken":[]}"#,
        #"{"sequence":9223372036854775807,"purpose":"","accesses":[],"overtaken":[]}"#,
    ])
    func `a claim that cannot be read keeps nobody waiting`(content: String) throws {
        try apart { meeting in
            let stranger = try Descriptor.open(
                path: "\(meeting)/strange.1.claim", flags: O_RDWR | O_CREAT, mode: 0o600)
            #expect(try stranger.tryLock())
            try stranger.append(Array(content.utf8))
            #expect(write() == nil)
            _ = consume stranger
        }
    }

    @Test func `neither does a directory, a fifo or a link of a claim's name`() throws {
        try apart { meeting in
            try FileManager.default.createDirectory(
                atPath: "\(meeting)/a.1.claim", withIntermediateDirectories: false)
            unsafe mkfifo("\(meeting)/a.2.claim", 0o600)
            try FileManager.default.createSymbolicLink(atPath: "\(meeting)/a.3.claim", withDestinationPath: file.path)
            unsafe mkfifo("\(meeting)/a.presenter", 0o600)
            try FileManager.default.createSymbolicLink(atPath: "\(meeting)/b.presenter", withDestinationPath: file.path)
            #expect(write() == nil)
            #expect(try text(of: file) == "text")
        }
    }

    @Test func `an item that a process holds which does not run is refused in time`() throws {
        try apart { meeting in
            let holder = try Descriptor.open(path: "\(meeting)/h.1.claim", flags: O_RDWR | O_CREAT, mode: 0o600)
            #expect(try holder.tryLock())
            let access = FileAccess(.write, String(try HostPath.resolved(file.path).dropFirst()))
            try holder.append(Array(try JSONEncoder().encode(record(1, [access]))))
            #expect(write() == CocoaError.fileLocking.rawValue)
            try holder.unlock()
            #expect(write() == nil)
        }
    }

    @Test func `a listener that does not speak is passed over`() throws {
        try apart { meeting in
            let socket = try Descriptor.listening(atSocket: "\(place.path)/s", permissions: 0o600)
            try FileManager.default.moveItem(atPath: "\(place.path)/s", toPath: "\(meeting)/mute.presenter")
            #expect(write() == nil)
            #expect(FileManager.default.fileExists(atPath: "\(meeting)/mute.presenter"))
            _ = consume socket
        }
    }

    @Test func `listeners of new names that do not speak cost a few accesses their time, and no further one`() throws {
        try apart { meeting in
            var sockets: [SharedDescriptor] = []
            func mute(_ name: String) throws {
                sockets.append(
                    SharedDescriptor(try Descriptor.listening(atSocket: "\(place.path)/s", permissions: 0o600)))
                try FileManager.default.moveItem(atPath: "\(place.path)/s", toPath: "\(meeting)/\(name).presenter")
            }
            var limits = CoordinationLimits.current
            limits.greeting = 3
            try CoordinationLimits.$current.withValue(limits) {
                for number in 0..<8 { try mute("\(number)") }
                let begin = MonotonicClock.nanoseconds
                #expect(write() == nil)
                // They are asked at once.
                #expect(MonotonicClock.nanoseconds - begin < 12_000_000_000)
                try mute("new")
                let next = MonotonicClock.nanoseconds
                #expect(write() == nil)
                #expect(MonotonicClock.nanoseconds - next < 2_500_000_000)
            }
        }
    }

    @Test func `the lock of the directory is not waited for without end`() throws {
        try apart { meeting in
            #expect(write() == nil)
            let lock = try Descriptor.open(path: "\(meeting)/lock", flags: O_RDWR)
            #expect(try lock.tryLock())
            #expect(write() == CocoaError.fileLocking.rawValue)
            _ = consume lock
        }
    }

    @Test func `a directory that others can change is not used`() throws {
        try apart { meeting in
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: meeting)
            #expect(write() == CocoaError.fileWriteNoPermission.rawValue)
        }
    }
}
