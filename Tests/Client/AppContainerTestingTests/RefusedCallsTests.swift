// Tests of the lines that a failure has on refused calls, and of the name of its attachment.

import AppContainer
import Platform
import Testing

@testable import AppContainerTesting

@Suite struct RefusedCallsTests {
    private func refusal(_ path: String, _ rule: String = "inbox", time: String = "t") -> Event {
        Event(
            .refused, time: time, app: "com.example.Notes", path: path, operation: "open", pid: 1, rule: rule,
            errno: "EPERM")
    }

    @Test func `a line has the call, the rule and the advice`() {
        let lines = RefusedCalls.lines(of: [refusal("Documents/Inbox/a"), refusal("x", "unheardOf")])
        #expect(
            lines == [
                "refused: open of Documents/Inbox/a for com.example.Notes: EPERM. Rule inbox: a delivered file can be "
                    + "read, removed and moved out of the Inbox; nothing else. Instead: move the file out of the Inbox "
                    + "first, for instance to Documents: from then on it is like any other.",
                "refused: open of x for com.example.Notes: EPERM. Rule unheardOf.",
            ])
    }

    @Test func `equal calls are told once, and of many the last five`() {
        let many = (1...7).flatMap { [refusal("\($0)", "r"), refusal("\($0)", "r", time: "later")] }
        let lines = RefusedCalls.lines(of: many)
        #expect(lines.count == 6 && lines.first == "refused: 2 other calls before these")
        #expect(lines.last == "refused: open of 7 for com.example.Notes: EPERM. Rule r. (2 times)")
    }

    @Test func `a count of calls that the record leaves out is told, and a name stays on its line`() {
        var summary = Event(.refused, time: "t", pid: 1, rule: "inbox", errno: "EPERM")
        summary.omitted = 12
        #expect(RefusedCalls.lines(of: [summary]) == ["refused: 12 calls more that the device's record leaves out"])
        let lines = RefusedCalls.lines(of: [refusal("a\nb\u{202E}\u{1B}", "r")])
        #expect(lines == ["refused: open of a\u{FFFD}b\u{FFFD}\u{FFFD} for com.example.Notes: EPERM. Rule r."])
    }

    @Test func `what a test has expected is left out, once for each time`() {
        let expected = ExpectedRefusals()
        let (first, second) = (refusal("a"), refusal("a", time: "later"))
        let closed = [refusal("b", "dataProtection"), refusal("b", "dataProtection", time: "later")]
        expected.add([first])
        expected.addReading(of: "b", from: "l", to: "t")
        let others = expected.others(in: [first, Event(.locked, time: "t"), second] + closed)
        #expect(others == [second, closed[1]])
    }

    @Test func `an expected refusal that the record has left out hides no other of the same file`() {
        let expected = ExpectedRefusals()
        for second in 2...3 { expected.addReading(of: "b", from: "\(second).000", to: "\(second).900") }
        let times = ["1.999", "2.901", "3.000", "3.001", "4.000"]
        let record = times.map { refusal("b", "dataProtection", time: $0) }
        #expect(expected.others(in: record).map(\.time) == ["1.999", "2.901", "3.001", "4.000"])
    }

    @Test func `a refusal is told by one failure of a test`() {
        let told = ToldRefusals()
        let expected = ExpectedRefusals()
        let (first, second) = (refusal("a", "r"), refusal("b", "r"))
        let line = "refused: open of a for com.example.Notes: EPERM. Rule r."
        #expect(told.lines(but: expected) { [first] } == [line])
        #expect(told.lines(but: expected) { [first] } == [])
        // One more that is equal, in the same millisecond, and one that was expected meanwhile.
        expected.add([second])
        #expect(told.lines(but: expected) { [first, second, first] } == [line])
        #expect(told.lines(but: expected) { [first, second, first] } == [])
    }

    @Test func `a device that does not answer costs a test two seconds, and its failures have no lines`() {
        let told = ToldRefusals()
        let isCancelled = Monitor(false)
        let start = MonotonicClock.nanoseconds
        for _ in 0..<100 {
            let lines = told.lines(but: ExpectedRefusals()) {
                do {
                    try await Task.sleep(for: .seconds(3600))
                } catch {
                    isCancelled.access { $0 = true }
                    throw error
                }
                return []
            }
            #expect(lines == [])
        }
        let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
        // A busy machine gives the thread its turn late, but a second wait of many would not fit.
        #expect(seconds >= 2 && seconds < 100)
        isCancelled.wait { $0 ? () : nil }
    }

    @Test func `a loop of failures reads the record for two seconds in all`() {
        let told = ToldRefusals()
        let readings = Monitor(0)
        var lines: [[String]] = []
        for _ in 0..<2000 {
            lines.append(
                told.lines(but: ExpectedRefusals()) {
                    try await Task.sleep(for: .milliseconds(300))
                    let number = readings.access { number in
                        number += 1
                        return number
                    }
                    return (1...number).map { refusal("\($0)", "r") }
                })
        }
        let count = readings.access { $0 }
        #expect((1...7).contains(count) && lines[0] == ["refused: open of 1 for com.example.Notes: EPERM. Rule r."])
        #expect(lines.allSatisfy { $0.count <= 1 })
        #expect(lines[count].first?.hasPrefix("refused calls are not looked for any more") == true)
        #expect(lines[(count + 1)...].allSatisfy { $0.isEmpty })
    }

    @Test func `an attachment is named after its test and the arguments`() {
        #expect(AttachmentName.of(["Outer", "Inner", "test()"], arguments: []) == "Outer, Inner, test.events.jsonl")
        #expect(AttachmentName.of(["`a b`(c:)"], arguments: ["1", "a/b\n"]) == "a b (1, a-b-).events.jsonl")
        #expect(AttachmentName.of(["`.a (b)`()"], arguments: []) == "-a (b).events.jsonl")
        let names = (1...2).map { _ in AttachmentName.of(["t(a:)"], arguments: nil) }
        #expect(Set(names).count == 2 && names[0].hasPrefix("t ("))
    }

    @Test func `a name that is too long is cut, and still one of its own`() {
        let names = ["1", "2"].map { AttachmentName.of(["é" + String(repeating: "x", count: 300)], arguments: [$0]) }
        #expect(Set(names).count == 2)
        for name in names { #expect(name.utf8.count <= 213 && name.hasSuffix(".events.jsonl")) }
    }
}
