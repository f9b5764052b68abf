// Operations on one name one after the other, and on others at once.

import Platform
import SandboxModel
import Testing

@testable import Volumes

@Suite struct NamedTurnsTests {
    @Test func `one name has one operation at a time`() async throws {
        let turns = NamedTurns()
        let inside = Monitor((now: 0, most: 0))
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    try? await turns.run("one") { () async throws(Complaint) in
                        inside.access {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        await Task.yield()
                        inside.access { $0.now -= 1 }
                    }
                }
            }
        }
        #expect(inside.access { $0.most } == 1)
    }

    @Test func `an operation waits for none on another name`() async throws {
        let turns = NamedTurns()
        try await turns.run("one") { () async throws(Complaint) in
            let found = try await turns.run("two") { () async throws(Complaint) in 7 }
            #expect(found == 7)
        }
    }

    @Test func `one that fails lets the next begin`() async throws {
        let turns = NamedTurns()
        await #expect(throws: Complaint.self) {
            try await turns.run("one") { () async throws(Complaint) in throw Complaint(.notFound, "no") }
        }
        #expect(try await turns.run("one") { () async throws(Complaint) in 7 } == 7)
    }
}
