// A SIGBUS of a mapping in a mount: a line tells the file, the class and the remedy, and the process ends as before.

import Foundation
import Testing

@Suite struct BusErrorTests {
    private let directory = Directory()
    private let swiftTesting = ["--testing-library", "swift-testing", "--filter", "MappingTests"]
    private let xctest = ["AppContainerTestingTests.MappingTestCase"]
    private let word = "appcontainer: SIGBUS: this process touches its mapping of "

    private func run(
        _ order: Order, _ arguments: [String], _ environment: [String: String] = [:], backtrace: Bool = false
    ) throws -> Run {
        var environment = environment
        environment["SWIFT_BACKTRACE"] = "enable=\(backtrace ? "yes" : "no")"
        let run = try Run(Order.process(order, arguments, in: directory.path, environment: environment))
        #expect(!run.output.contains("touched: "), "\(run.output)")
        return run
    }

    @Test func `a mapping of a file that a lock has closed`() throws {
        let run = try run(.touchLocked, swiftTesting)
        #expect(run.signal == SIGBUS, "\(run.output)")
        let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix(word) }, "\(run.output)")
        #expect(line.contains("/Documents/ma?p??p???ed, a file of class NSFileProtectionComplete, which keeps its"))
        #expect(line.contains(". Instead: unlock the device before; "))
    }

    @Test(arguments: [
        (Order.touchRestarted, "NSFileProtectionComplete, and the device was restarted since, or has no space"),
        (.touchCut, "NSFileProtectionComplete, and the page is beyond the end of the file. Instead: map it anew"),
    ])
    func `a mapping that is gone for another reason`(order: Order, words: String) throws {
        let run = try run(order, swiftTesting)
        #expect(run.signal == SIGBUS && run.output.contains(words), "\(run.output)")
    }

    @Test(arguments: [Order.touchReplaced, .touchRemoved])
    func `a mapping of a file that has no name any more`(order: Order) throws {
        let run = try run(order, swiftTesting)
        #expect(run.signal == SIGBUS, "\(run.output)")
        let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix(word) }, "\(run.output)")
        #expect(line.contains("/Documents/ma?p??p???ed, a file that was replaced since, as by an atomic write, "))
        #expect(line.contains(" Instead: map the new file once it is there, ") && !line.contains("NSFile"))
    }

    @Test func `a mapping of a file whose name reads like that of one that is gone`() throws {
        let run = try run(.touchOddlyNamed, swiftTesting)
        #expect(run.signal == SIGBUS, "\(run.output)")
        let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix(word) }, "\(run.output)")
        #expect(line.contains("/Documents/ma\\012pped (deleted), a file of class NSFileProtectionComplete, which"))
    }

    @Test func `a mapping of a file of the host`() throws {
        let run = try run(.touchOfHost, swiftTesting)
        #expect(run.signal == SIGBUS && !run.output.contains(word), "\(run.output)")
    }

    @Test func `the variable that keeps the action as it is`() throws {
        let run = try run(.touchLocked, swiftTesting, ["APPCONTAINER_TEST_SIGBUS": "off"])
        #expect(run.signal == SIGBUS && !run.output.contains(word), "\(run.output)")
    }

    @Test func `the backtrace of Swift comes after the line`() throws {
        let run = try run(.touchLocked, swiftTesting, backtrace: true)
        #expect(run.signal == SIGBUS, "\(run.output)")
        let line = try #require(run.output.firstRange(of: word), "\(run.output)")
        let trace = try #require(run.output.firstRange(of: "Backtrace took"), "\(run.output)")
        #expect(line.lowerBound < trace.lowerBound)
    }

    @Test func `a handler that was there before comes after the line`() throws {
        let run = try run(.touchLockedAndCatch, xctest)
        #expect(run.signal == nil && run.status == 3, "\(run.output)")
        let lines = run.output.split(separator: "\n").filter { $0.hasPrefix(word) || $0 == "caught" }
        #expect(lines.count == 2 && lines.last == "caught", "\(run.output)")
    }
}
