// The machine's processors, and the one on which a thread runs.

import CPlatform
import Glibc

/// Processors, by the kernel's numbers.
public enum Processors {
    /// All that the machine may ever have, switched off or not yet plugged in included: so many queues has a FUSE
    /// connection over io_uring. nil where sysfs is not mounted: sysconf(3) may then count fewer.
    public static func possibleCount() -> Int? {
        (try? HostPath.contents("/sys/devices/system/cpu/possible")).flatMap(numbers)?.count
    }

    /// Those that run now.
    public static func online() -> Set<Int> {
        let list = (try? HostPath.contents("/sys/devices/system/cpu/online")).flatMap(numbers)
        return Set(list ?? Array(0..<max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    }

    /// Whether this process was started with the right to use a processor (taskset(1), cpuset(7)).
    public static func isAllowed(_ processor: Int) -> Bool {
        platform_allowed(UInt32(clamping: processor)) != 0
    }

    /// Binds the calling thread to a processor (`sched_setaffinity(2)`).
    /// - Returns: false if the processor is switched off; the thread stays as it was.
    @discardableResult
    public static func bindThread(to processor: Int) -> Bool {
        platform_run_on(UInt32(clamping: processor)) == 0
    }

    /// Whether ``bindThread(to:)`` holds for the calling thread.
    static var isThreadBound: Bool { platform_is_bound() != 0 }

    /// Lets the calling thread run on all processors of this process.
    public static func releaseThread() {
        _ = platform_run_anywhere()
    }

    /// The numbers of a list in sysfs, such as `0-3,5`, in ascending order; nil if it is none.
    static func numbers(_ text: [UInt8]) -> [Int]? {
        var numbers: [Int] = []
        for range in text.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\n") }) {
            let ends = range.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
                .map { Int(String(decoding: $0, as: UTF8.self)) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
                first >= 0, last >= first, last < 1 << 16
            else { return nil }
            numbers += first...last
        }
        return numbers.isEmpty ? nil : numbers
    }
}
