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
        Task.detached(executorPreference: WorkExecutor.shared) {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            answer.access { $0 = result }
        }
        return answer.wait { $0 }
    }
}
