// Tests of when a worker over io_uring keeps to its processor.

import Synchronization
import Testing

@testable import FuseBridge
@testable import Platform

struct ProcessorBindingTests {
    /// Takes steps on a thread of its own.
    /// - Parameter isBound: false for a worker that has no processor.
    /// - Returns: whether the thread is bound at its start, and after each step.
    private func states(after steps: [Step], isBound: Bool = true) throws -> [Bool] {
        let processor = try #require(Processors.online().first { Processors.isAllowed($0) })
        let states = Mutex<[Bool]>([])
        let thread = try HostThread(name: "worker") {
            var binding = ProcessorBinding(isBound ? processor : nil)
            binding.begin()
            states.withLock { $0.append(Processors.isThreadBound) }
            for step in steps {
                switch step {
                case .awaited: binding.note(queuedUp: false)
                case .queuedUp: binding.note(queuedUp: true)
                case .long: binding.noteLong()
                }
                states.withLock { $0.append(Processors.isThreadBound) }
            }
        }
        thread.join()
        return states.withLock { $0 }
    }

    private enum Step { case awaited, queuedUp, long }

    @Test func `it keeps to its processor while each request is awaited`() throws {
        #expect(try states(after: [.awaited, .awaited]) == [true, true, true])
    }

    @Test func `it leaves where requests queue up, and is back after as many others`() throws {
        let queue = [Step](repeating: .queuedUp, count: 4)
        let awaited = [Step](repeating: .awaited, count: 4)
        #expect(
            try states(after: queue + awaited)
                == [true] + [true, true, true, false] + [false, false, false, true])
    }

    @Test func `it leaves for a long request, and stays away while long ones go on`() throws {
        let reads = [Step](repeating: .long, count: 3).flatMap { [.awaited, $0] }
        #expect(try states(after: reads) == [true, true] + [Bool](repeating: false, count: 5))
        let awaited = [Step](repeating: .awaited, count: 4)
        #expect(try states(after: [.long] + awaited) == [true, false, false, false, false, true])
    }

    @Test func `a worker that is never bound stays so`() throws {
        #expect(
            try states(after: [.awaited, .long] + [Step](repeating: .awaited, count: 5), isBound: false)
                == [Bool](repeating: false, count: 8))
    }
}
