// Waiting for async work in code that cannot suspend.

/// Async work that a thread waits for.
public enum BlockingTask {
    /// Runs the body on the threads of ``WorkQueue``, and blocks the calling thread until it has ended. The calling
    /// thread may be one of Swift concurrency's: the body needs none of them.
    ///
    /// Task-local values are not handed on.
    public static func result<Value: Sendable>(
        of body: @escaping @Sendable () async throws -> Value
    ) -> Result<Value, any Error> {
        let answer = Monitor<Result<Value, any Error>?>(nil)
        start(body, answering: answer)
        return answer.wait { $0 }
    }

    /// The same for a limited time. Work that lasts longer is cancelled, and ends without the thread.
    /// - Parameter nanoseconds: the longest wait.
    /// - Returns: nil if the body has not ended by then.
    public static func result<Value: Sendable>(
        within nanoseconds: UInt64, of body: @escaping @Sendable () async throws -> Value
    ) -> Result<Value, any Error>? {
        let answer = Monitor<Result<Value, any Error>?>(nil)
        let task = start(body, answering: answer)
        let result = answer.wait(until: MonotonicClock.nanoseconds + nanoseconds) { $0 }
        if result == nil { task.cancel() }
        return result
    }

    @discardableResult
    private static func start<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value, answering answer: Monitor<Result<Value, any Error>?>
    ) -> Task<Void, Never> {
        Task.detached(executorPreference: WorkExecutor.shared) {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            answer.access { $0 = result }
        }
    }
}
