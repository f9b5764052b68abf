// Work on many items by several threads, while one reports progress.

import Glibc
public import SandboxModel
import Synchronization

/// Spreads items over the processors.
public enum ParallelWork {
    /// Works on each of `count` items once. Threads take them in ascending order.
    ///
    /// - Parameters:
    ///   - threadsPerProcessor: more than 1 for items that mostly wait for the host's disk.
    ///   - tool: makes the state of one thread, such as its buffers.
    ///   - progress: called on this thread about 20 times a second with the amount that items added to their meter
    ///     since the last call; false cancels.
    ///   - body: works on one item, on any thread. A long item polls `isCancelled` of its meter.
    /// - Returns: false if `progress` cancelled the work.
    /// - Throws: the first error of an item, which cancels the others.
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
                // Fewer threads will do. Without any, this thread does the work and reports progress at the end.
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
        // Joined, so that nothing that the items held outlives this call.
        for thread in started { thread.join() }
        if let error = shared.failure.withLock({ $0 }) { throw error }
        return isWanted && progress(meter.take())
    }

    /// As ``run(_:threadsPerProcessor:tool:progress:_:)``, without state of a thread.
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
        /// The next item that no thread has taken.
        let next = Atomic(0)
        /// The first error of an item.
        let failure = Mutex<SystemError?>(nil)
    }
}

/// Adds up the progress of the threads of one job, and tells them when it is cancelled.
public final class WorkMeter: Sendable {
    private let done = Atomic<Int64>(0)
    private let cancelled = Atomic(false)

    public init() {}

    /// - Parameter amount: in a unit of the job's choice, such as bytes.
    public func add(_ amount: Int64) {
        done.wrappingAdd(amount, ordering: .relaxed)
    }

    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        cancelled.store(true, ordering: .relaxed)
    }

    /// Returns the amount added since the last call.
    func take() -> Int64 { done.exchange(0, ordering: .relaxed) }
}
