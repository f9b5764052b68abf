// An executor for tasks that must go on while the threads of all other tasks are blocked.

/// Runs the jobs of a task on the threads of ``WorkQueue``: give it as the preference of a task.
public final class WorkExecutor: TaskExecutor {
    public static let shared = WorkExecutor()

    private init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The executor is never released.
        WorkQueue().start { unsafe job.runSynchronously(on: WorkExecutor.shared.asUnownedTaskExecutor()) }
    }
}
