// Tests that pass, and do something else besides where another test tells them to.

import AppContainer
import AppContainerTesting
import Foundation
import Synchronization
import Testing
import XCTest

@Suite(.appContainer(app: notes, passcode: "1234")) struct ObedientTests {
    @Test func `an app cannot write to its bundle`() async throws {
        let container = AppContainer.current
        try await expectRefused(.rule("sealedBundle")) { try Data().write(to: container.url("Notes.app/new")) }
        switch Order.given {
        case .fail:
            #expect(throws: CocoaError.self) { try Data().write(to: container.url("Notes.app/unexpected")) }
            // The second failure has nothing new to tell.
            for _ in 0..<2 { Issue.record("told to fail") }
        case .forgetToClose: forgetToClose(container)
        case .waitToBeKilled: try await waitToBeKilled(container)
        default: break
        }
    }
}

/// Fails where it is told to, on a device on which nothing happens.
@Suite(.appContainer(app: notes)) struct IdleTests {
    @Test func `a test does nothing to its device`() {
        if Order.given == .fail { Issue.record("told to fail") }
    }
}

final class IdleTestCase: AppContainerTestCase {
    override class var container: ContainerOptions { ContainerOptions(.app(notes)) }

    func testATestDoesNothingToItsDevice() {
        if Order.given == .fail { XCTFail("told to fail") }
    }
}

final class ObedientTestCase: AppContainerTestCase {
    override class var container: ContainerOptions { ContainerOptions(.app(notes), passcode: "1234") }

    func testAnAppCannotWriteToItsBundle() async throws {
        let container = AppContainer.current
        try await expectRefused(.rule("sealedBundle")) { try Data().write(to: container.url("Notes.app/new")) }
        switch Order.given {
        case .fail:
            XCTAssertThrowsError(try Data().write(to: container.url("Notes.app/unexpected")))
            for _ in 0..<2 { XCTFail("told to fail") }
        case .forgetToClose: forgetToClose(container)
        case .waitToBeKilled: try await waitToBeKilled(container)
        default: break
        }
    }
}

/// A process's message to the test that kills it: one line of JSON on standard output.
struct Held: Codable {
    var daemon: Int32
    var socket: String
    var home: String
}

private func forgetToClose(_ container: TestContainer) {
    let path = container.path("Documents/forgotten")
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    forgotten.withLock { $0 = FileHandle(forReadingAtPath: path) }
}

private let forgotten = Mutex<FileHandle?>(nil)

private func waitToBeKilled(_ container: TestContainer) async throws {
    let daemon = try await container.device.status().daemon
    let held = Held(daemon: try #require(daemon.pid), socket: try #require(daemon.socket), home: container.home)
    let file = try FileHandle(
        forWritingTo: {
            let file = container.url("Documents/open")
            try Data().write(to: file)
            return file
        }())
    FileHandle.standardOutput.write(try JSONEncoder().encode(held) + Data("\n".utf8))
    // Nor for longer than whoever is to kill it.
    let parent = getppid()
    while getppid() == parent {
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Data(count: 4096))
        try file.synchronize()
    }
}
