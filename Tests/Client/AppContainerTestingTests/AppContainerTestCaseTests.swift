// Test cases of XCTest: a device of its own for each test.

import AppContainer
import AppContainerTesting
import Foundation
import XCTest

final class AppContainerTestCaseTests: AppContainerTestCase {
    override class var container: ContainerOptions { ContainerOptions(.app(notes), passcode: "1234") }

    private let secret = "Documents/secret"

    override func setUp() async throws {
        try Data("hello".utf8).write(to: AppContainer.current.url(secret))
        try await AppContainer.current.setProtection(.complete, of: secret)
    }

    func testAFileSurvivesALockAndCannotBeReadMeanwhile() async throws {
        let container = AppContainer.current
        try await container.lock()
        expectUnreadable(secret)
        try await expectRefused(.dataProtection) { _ = try Data(contentsOf: container.url(secret)) }
        try await container.unlock()
        XCTAssertEqual(try Data(contentsOf: container.url(secret)), Data("hello".utf8))
    }

    func testATestThatDoesNotWaitHasItsContainerToo() throws {
        XCTAssertEqual(try String(contentsOfFile: AppContainer.current.path(secret), encoding: .utf8), "hello")
        XCTAssertThrowsError(try Data().write(to: AppContainer.current.url("Notes.app/new")))
        expectReadable(secret)
    }

    @MainActor func testATestOnTheMainActorHasItsContainerToo() async throws {
        try await expectRefused(.sandbox) {
            try FileManager.default.removeItem(at: AppContainer.current.url("Documents"))
        }
    }

    func testEachTestHasADeviceThatIsAsNew() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: AppContainer.current.path("Documents"))
        XCTAssertEqual(names, ["secret"])
    }
}

final class LockedTestCaseTests: AppContainerTestCase {
    override class var container: ContainerOptions {
        ContainerOptions(.app(notes), passcode: "1234", isUnlocked: false)
    }

    func testADeviceCanBeBeforeItsFirstUnlock() async throws {
        let container = AppContainer.current
        XCTAssertThrowsError(try Data("early".utf8).write(to: container.url("Documents/early")))
        try await container.unlock()
        try Data("late".utf8).write(to: container.url("Documents/late"))
        expectReadable("Documents/late")
    }
}
