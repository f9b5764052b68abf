// Tests of the command line.

import FuseBridge
import SandboxModel
import TestSupport
import Testing

@testable import Passthrough

@Suite struct ArgumentsTests {
    private func failure(_ body: () throws -> Void) -> Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? Failure
        }
    }

    @Test func theTransportMayStandAnywhere() throws {
        let arguments = try Arguments(["a", "--transport", "io-uring", "b"])
        #expect(arguments.source == "a" && arguments.mountPoint == "b")
        #expect(arguments.transport == .ioUring)
        #expect(try Arguments(["a", "b"]).transport == .automatic)
    }

    @Test(arguments: ["", "a", "a b c", "a b --transport", "a b --transport tcp", "-v"])
    func aWrongCommandLineIsAUsageError(line: String) throws {
        let failure = try #require(failure { _ = try Arguments(line.split(separator: " ").map(String.init)) })
        #expect(failure.code == 64)
        #expect(!failure.message.contains("\n"))
    }

    @Test func bothHaveToBeDirectoriesOutsideEachOther() throws {
        let scratch = Scratch()
        try shell("mkdir -p '\(scratch.path)/source/inner' '\(scratch.path)/mount'; touch '\(scratch.path)/file'")
        func code(_ source: String, _ mountPoint: String) -> Int32? {
            failure { try Arguments([scratch[source], scratch[mountPoint]]).check() }?.code
        }
        #expect(code("source", "mount") == nil)
        #expect(code("nowhere", "mount") == 66)
        #expect(code("source", "file") == 66)
        #expect(code("source", "source/inner") == 64)
    }
}
