// Threads for work that blocks: the pool that runs Swift's tasks has one thread a core, and must not be held up.

import Dispatch

public struct WorkQueue: Sendable {
    private let queue = DispatchQueue(label: "appcontainer.work", attributes: .concurrent)

    public init() {}

    public func start(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    public func start(after pause: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + pause / .seconds(1), execute: body)
    }

    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
