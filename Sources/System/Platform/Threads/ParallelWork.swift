// Work on many items that the machine's processors share, while one thread tells how far it has come.

import Glibc
public import SandboxModel
import Synchronization

/// Spreads items over as many threads as there are processors.
public enum ParallelWork {
    /// Works on each of `count` items once, in the order of their numbers as far as there is one.
    ///
    /// - Parameters:
    ///   - threadsPerProcessor: more than 1 where most of the time an item waits for the host's disk.
    ///   - tool: makes what one thread needs for itself, such as buffers; it is used for one item after the other.
    ///   - progress: called on this thread, some times a second, with what the items have told their meter since the
    ///     last call; false cancels.
    ///   - body: works on one item, on any thread. A long item looks at its meter.
    /// - Returns: false when `progress` cancelled it.
    /// - Throws: the first error that an item threw; the others are given up then.
    public static func run<Tool>(
        _ count: Int, threadsPerProcessor: Int = 1, tool: @escaping @Sendable () -> Tool, progress: (Int64) -> Bool,
        _ body: @escaping @Sendable (Tool, Int, WorkMeter) throws(SystemError) -> Void
    ) throws(SystemError) -> Bool {
        let meter = WorkMeter()
        let shared = Shared()
        let ended = Semaphore()
        let threads = min(count, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) * threadsPerProcessor)
        var started: [HostThread] = []
        for _ in 0..<threads {
            let body: @Sendable () -> Void = {
                let tool = tool()
                while !meter.isCancelled {
                    let item = shared.next.wrappingAdd(1, ordering: .relaxed).oldValue
                    guard item < count else { break }
                    do throws(SystemError) {
                        try body(tool, item, meter)
                    } catch {
                        shared.failure.withLock { $0 = $0 ?? error }
                        meter.cancel()
                    }
                }
                ended.signal()
            }
            do throws(SystemError) {
                started.append(try HostThread(name: "work", body))
            } catch {
                // Fewer will do. Where there is none this one does the work, and tells of it in the end.
                if started.isEmpty { body() }
                break
            }
        }
        var isWanted = true
        for _ in started {
            while !ended.wait(milliseconds: 50) {
                if isWanted, !progress(meter.take()) {
                    isWanted = false
                    meter.cancel()
                }
            }
        }
        // Nothing that the items held is held any more when this returns.
        for thread in started { thread.join() }
        if let error = shared.failure.withLock({ $0 }) { throw error }
        return isWanted && progress(meter.take())
    }

    /// As ``run(_:threadsPerProcessor:tool:progress:_:)``, for work that needs nothing of its own in each thread.
    public static func run(
        _ count: Int, threadsPerProcessor: Int = 1, progress: (Int64) -> Bool,
        _ body: @escaping @Sendable (Int, WorkMeter) throws(SystemError) -> Void
    ) throws(SystemError) -> Bool {
        let withoutTool: @Sendable (Void, Int, WorkMeter) throws(SystemError) -> Void = {
            (_, item, meter) throws(SystemError) in try body(item, meter)
        }
        return try run(
            count, threadsPerProcessor: threadsPerProcessor, tool: {}, progress: progress, withoutTool)
    }

    private final class Shared: Sendable {
        let next = Atomic(0)
        let failure = Mutex<SystemError?>(nil)
    }
}

/// Counts what the threads of one piece of work have done, and tells them when it is given up.
public final class WorkMeter: Sendable {
    private let done = Atomic<Int64>(0)
    private let cancelled = Atomic(false)

    public init() {}

    public func add(_ amount: Int64) {
        done.wrappingAdd(amount, ordering: .relaxed)
    }

    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// What was added since the last call.
    func take() -> Int64 { done.exchange(0, ordering: .relaxed) }
}
