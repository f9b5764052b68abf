// Threads for work that blocks. The pool of Swift concurrency has one thread for each processor and must not be blocked.

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
