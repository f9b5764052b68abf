// How many devices tests have at a time: each is a process, and a machine has room for so many.

import FoundationEssentials

/// Lets a number of tests at a time have a device; the others wait for their turn, in the order in which they came.
///
/// The number is what the environment variable `APPCONTAINER_TEST_DEVICES` says, else two for each processor.
actor DeviceLimit {
    static let shared = DeviceLimit(
        ProcessInfo.processInfo.environment["APPCONTAINER_TEST_DEVICES"].flatMap { Int($0) }
            ?? 2 * ProcessInfo.processInfo.activeProcessorCount)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ number: Int) {
        free = max(1, number)
    }

    nonisolated func withDevice<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    func enter() async {
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
