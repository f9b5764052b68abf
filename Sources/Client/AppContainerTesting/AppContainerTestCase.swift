// Containers for tests of XCTest.

import AppContainer
import Foundation
import Platform
import Synchronization
public import XCTest

/// A test case whose tests each have a device of their own, with the app installed and mounted:
/// ``AppContainer/current``.
///
/// ```swift
/// final class NotesTests: AppContainerTestCase {
///     override class var container: ContainerOptions {
///         ContainerOptions(.app("Fixtures/Notes.app"), passcode: "1234")
///     }
///
///     func testNotesSurviveALock() async throws {
///         try await AppContainer.current.lock()
///         …
///     }
/// }
/// ```
open class AppContainerTestCase: XCTestCase {
    /// The running test's container, which a failure on any thread asks for what was refused.
    private let running = Mutex<TestContainer?>(nil)

    /// The device that each test gets.
    open class var container: ContainerOptions {
        preconditionFailure("\(self) says no container: override the class property `container`")
    }

    /// Makes the device, runs the test, and ends the device. On a failure the events of the test are printed.
    open override func invokeTest() {
        let options = Self.container
        let made = BlockingTask.result {
            try await DeviceLimit.shared.enter()
            do {
                return try await TestDevices.shared.container(options)
            } catch {
                await DeviceLimit.shared.leave()
                throw error
            }
        }
        let container: TestContainer
        switch made {
        case .success(let value): container = value
        case .failure(let error):
            XCTFail("the test's device cannot be made: \(error)")
            return
        }
        running.withLock { $0 = container }
        AppContainer.with(container) { super.invokeTest() }
        running.withLock { $0 = nil }
        for file in OpenFiles.below(container.home) {
            AppContainerTestCase.say("\(name): warning: \(file) is still open at the end of the test; close it before")
        }
        // Not `hasSucceeded`, which is false until the run is over.
        let failed = (testRun?.totalFailureCount ?? 0) > 0
        let events = BlockingTask.result {
            let events = failed ? await container.eventLines() : nil
            await container.device.end()
            await DeviceLimit.shared.leave()
            return events
        }
        if case .success(let events?) = events {
            AppContainerTestCase.say("\(name): what happened on its device:\n\(events)")
        }
    }

    /// Records a failure, and below it each call that was refused and that no `expectRefused` or `expectUnreadable`
    /// asked for: the call, the rule and the advice. Each is told once, by the first failure after it.
    open override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
    ) {
        let refused = running.withLock { $0 }?.refusedCalls() ?? []
        super.recordFailure(
            withDescription: ([description] + refused).joined(separator: "\n"), inFile: filePath, atLine: lineNumber,
            expected: expected)
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
