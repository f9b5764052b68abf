// Containers for tests of XCTest.

import AppContainer
import Foundation
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
    /// The device that each test gets.
    open class var container: ContainerOptions {
        preconditionFailure("\(self) says no container: override the class property `container`")
    }

    /// Makes the device, runs the test, and ends the device. On a failure the events of the test are printed.
    open override func invokeTest() {
        let options = Self.container
        let made = AppContainerTestCase.wait {
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
        AppContainer.with(container) { super.invokeTest() }
        for file in OpenFiles.below(container.home) {
            AppContainerTestCase.say("\(name): warning: \(file) is still open at the end of the test; close it before")
        }
        // Not `hasSucceeded`, which is false until the run is over.
        let failed = (testRun?.totalFailureCount ?? 0) > 0
        let events = AppContainerTestCase.wait {
            let events = failed ? await container.eventLines() : nil
            await container.device.end()
            await DeviceLimit.shared.leave()
            return events
        }
        if case .success(let events?) = events {
            AppContainerTestCase.say("\(name): what happened on its device:\n\(events)")
        }
    }

    /// Runs an async body while this thread, the main one, waits.
    private static func wait<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Result<Value, any Error> {
        let answer = Answer<Value>()
        Task.detached {
            do {
                answer.give(.success(try await body()))
            } catch {
                answer.give(.failure(error))
            }
        }
        return answer.take()
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// A result that one thread waits for and another provides.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var value: Result<Value, any Error>?

    func give(_ value: Result<Value, any Error>) {
        condition.withLock {
            self.value = value
            condition.signal()
        }
    }

    func take() -> Result<Value, any Error> {
        condition.withLock {
            while true {
                if let value { return value }
                condition.wait()
            }
        }
    }
}
