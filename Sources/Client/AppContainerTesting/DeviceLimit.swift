// A limit to the devices that tests have at the same time: each is a process.

import AppContainer
import FoundationEssentials

/// Admits tests to a device in order of arrival, up to a limit.
///
/// The limit is the environment variable `APPCONTAINER_TEST_DEVICES`, by default two for each processor.
actor DeviceLimit {
    static let shared = DeviceLimit(ProcessInfo.processInfo.environment[variable])

    private static let variable = "APPCONTAINER_TEST_DEVICES"

    /// The value of the variable, if it is invalid.
    private let refused: String?
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ text: String?) {
        let text = text == "" ? nil : text
        free = text.map { Int($0) ?? 0 } ?? 2 * ProcessInfo.processInfo.activeProcessorCount
        refused = free > 0 ? nil : text
    }

    nonisolated func withDevice<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    /// - Throws: ``DeviceError`` of kind `badRequest` if the variable is not a positive number.
    func enter() async throws(DeviceError) {
        if let refused {
            throw DeviceError(
                .badRequest,
                "the environment variable \(DeviceLimit.variable) is \(refused); set it to how many devices there may "
                    + "be at a time, from 1 on")
        }
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
