// One operation at a time on each app; none once the device ends.

import Platform
import SandboxModel
import Synchronization
import Testing

@testable import Daemon

@Suite struct AppOperationsTests {
    private let notes = ContainerIdentifier("com.example.Notes")!
    private let mail = ContainerIdentifier("com.example.Mail")!

    /// How many are inside at once, and the most there were.
    private final class Crowd: Sendable {
        private let state = Mutex((now: 0, most: 0))
        var most: Int { state.withLock { $0.most } }

        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func leave() {
            state.withLock { $0.now -= 1 }
        }
    }

    @Test func `an operation on very many apps takes no more of the stack`() throws {
        let operations = AppOperations()
        let apps = (0..<50_000).map { ContainerIdentifier("com.example.a\($0)")! }
        let isHeld = try operations.run(onEach: apps[...]) { () throws(Complaint) in
            operations.tryRun(on: apps[0]) {} == nil && operations.tryRun(on: apps[49_999]) {} == nil
        }
        #expect(isHeld)
        #expect(throws: Complaint(.unexpected, "inside")) {
            try operations.run(onEach: apps[...]) { () throws(Complaint) in throw Complaint(.unexpected, "inside") }
        }
        #expect(operations.tryRun(on: apps[0]) {} != nil && operations.tryRun(on: apps[49_999]) {} != nil)
    }

    @Test func `operations on one app do not overlap`() async {
        let operations = AppOperations()
        let crowd = Crowd()
        let app = notes
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await WorkQueue().run {
                        try? operations.run(on: app) { () throws(Complaint) in
                            crowd.enter()
                            for _ in 0..<1000 { _ = crowd.most }
                            crowd.leave()
                        }
                    }
                }
            }
        }
        #expect(crowd.most == 1)
    }

    @Test func `operations on two apps overlap`() throws {
        let operations = AppOperations()
        try operations.run(on: notes) { () throws(Complaint) in
            try operations.run(on: mail) { () throws(Complaint) in }
        }
    }

    @Test func `nothing begins once the device ends, and the end comes once`() {
        let operations = AppOperations()
        #expect(operations.end())
        #expect(!operations.end())
        let complaint = #expect(throws: Complaint.self) {
            try operations.run { () throws(Complaint) in }
        }
        #expect(complaint?.kind == .shuttingDown)
    }
}
