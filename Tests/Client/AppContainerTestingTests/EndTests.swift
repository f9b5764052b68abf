// How a test ends: with a failure, with a file that it forgot, or killed in the middle.

import Foundation
import Platform
import Testing

@Suite struct EndTests {
    /// Both kinds of tests, as `swift test` starts them.
    enum Kind: CaseIterable {
        case swiftTesting, xctest

        /// - Parameter suite: how the names begin of both the suite and the test case.
        func arguments(_ directory: String, suite: String = "Obedient") -> [String] {
            switch self {
            case .swiftTesting:
                ["--testing-library", "swift-testing", "--filter", "\(suite)Tests", "--attachments-path", directory]
            case .xctest: ["AppContainerTestingTests.\(suite)TestCase"]
            }
        }
    }

    private let directory = Directory()
    private var attachments: String { directory["attachments"] }
    private var temporary: String { directory["temporary"] }

    init() throws {
        for place in [attachments, temporary] {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        }
    }

    /// Nothing of a test process may be left when it has ended.
    private func leavesNothing() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(!mounts.contains(temporary))
    }

    @Test(arguments: Kind.allCases) func `a test that passes says nothing, and leaves nothing`(kind: Kind) throws {
        let run = try Run(Order.process(nil, kind.arguments(attachments), in: temporary))
        #expect(run.status == 0, "\(run.output)")
        #expect(!run.output.contains("still open") && !run.output.contains(#""event""#), "\(run.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: attachments) == [])
        try leavesNothing()
    }

    @Test func `the events of a test that failed are attached to it`() throws {
        let run = try Run(Order.process(.fail, Kind.swiftTesting.arguments(attachments), in: temporary))
        #expect(run.status == 1, "\(run.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: attachments)
        let name = "ObedientTests, an app cannot write to its bundle.events.jsonl"
        try #require(names == [name])
        let events = try String(contentsOfFile: "\(attachments)/\(name)", encoding: .utf8)
        // Not how the device was made ready for the test.
        #expect(!events.contains(#""event":"mounted""#) && events.contains(#""rule":"sealedBundle""#))
        try leavesNothing()
    }

    @Test func `each case of a test that failed has events of its own name`() throws {
        let run = try Run(
            Order.process(.fail, Kind.swiftTesting.arguments(attachments, suite: "Many"), in: temporary))
        #expect(run.status == 1, "\(run.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: attachments).sorted()
        #expect(
            names == [
                #"ManyTests, a case fails ("one-half").events.jsonl"#, #"ManyTests, a case fails ("two").events.jsonl"#,
            ])
    }

    @Test(arguments: Kind.allCases)
    func `a failure tells the call that was refused, its rule and the advice`(kind: Kind) throws {
        let run = try Run(Order.process(.fail, kind.arguments(attachments), in: temporary))
        #expect(run.status == 1, "\(run.output)")
        let lines = run.output.split(separator: "\n").filter { $0.contains("refused: ") }
        try #require(lines.count == 1, "\(run.output)")
        let line = String(lines[0])
        #expect(
            line.contains(" of Notes.app/unexpected for com.example.Notes: EPERM. Rule sealedBundle: the bundle is"))
        #expect(line.contains(" Instead: write to Documents, Library or tmp; "))
    }

    @Test func `the events of a test case that failed are printed`() throws {
        let run = try Run(Order.process(.fail, Kind.xctest.arguments(attachments), in: temporary))
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.contains("testAnAppCannotWriteToItsBundle: what happened on its device:\n{"))
        #expect(run.output.contains(#""rule":"sealedBundle""#))
        try leavesNothing()
    }

    @Test(arguments: Kind.allCases) func `a test that failed without an event says nothing of any`(kind: Kind) throws {
        let run = try Run(Order.process(.fail, kind.arguments(attachments, suite: "Idle"), in: temporary))
        #expect(run.status == 1 && !run.output.contains("what happened on its device"), "\(run.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: attachments) == [])
        try leavesNothing()
    }

    @Test(arguments: Kind.allCases) func `a file that is still open at the end is a warning`(kind: Kind) throws {
        let run = try Run(Order.process(.forgetToClose, kind.arguments(attachments), in: temporary))
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("/Documents/forgotten is still open at the end of the test; close it before"))
        try leavesNothing()
    }

    @Test(arguments: Kind.allCases) func `of a test that is killed nothing is left`(kind: Kind) throws {
        let process = Order.process(.waitToBeKilled, kind.arguments(attachments), in: temporary)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // Before it stands what the test library says.
        let held = AnyIterator { output.line() }.lazy
            .compactMap { line in try? JSONDecoder().decode(Held.self, from: Data(line.utf8)) }
            .first { _ in true }
        let wanted = try #require(held, "the process ended before its test had a device")
        let family = ProcessFamily.members(of: process.processIdentifier)
        #expect(family.contains(wanted.daemon))
        let processes = family.compactMap(ProcessBox.init)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        for process in processes { #expect(process.ends()) }
        #expect(!FileManager.default.fileExists(atPath: wanted.socket))
        #expect(!FileManager.default.fileExists(atPath: wanted.home))
        let mounts = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(!mounts.contains(wanted.home))
        try leavesNothing()
    }
}

extension Pipe {
    /// The next line, without its end; nil at the end.
    fileprivate func line() -> String? {
        var bytes = Data()
        while let byte = try? fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            if byte.first == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes += byte
        }
        return nil
    }
}
