// Tests of the words of `explain`.

import AppContainer
import SandboxModel
import Testing

@testable import Daemon

@Suite struct ExplanationTests {
    private func refused(
        _ path: String?, at time: String, operation: String? = "mkdir", pid: Int32 = 7, rule: String = "topLevel",
        omitted: Int? = nil
    ) -> Event {
        var event = Event(
            .refused, time: time, app: operation == nil ? nil : "com.example.Notes", path: path, operation: operation,
            pid: pid, process: "sh", rule: rule, errno: "EPERM")
        event.omitted = omitted
        return event
    }

    @Test func `equal refusals are one, with their count, at the place of the last`() {
        let events = [
            refused("a", at: "1"), refused("b", at: "2", pid: 8), Event(.locked, time: "3"),
            refused("a", at: "4", pid: 9),
        ]
        let explanations = Explanation.explanations(of: events, last: 10)
        #expect(explanations.map(\.path) == ["b", "a"])
        #expect(explanations.map(\.count) == [1, 2])
        #expect(explanations.last?.first == "1" && explanations.last?.last == "4" && explanations.last?.pid == 9)
        #expect(explanations.last?.words == Rule.topLevel.words && explanations.last?.instead == Rule.topLevel.instead)
        #expect(Explanation.explanations(of: events, last: 1).map(\.path) == ["a"])
        #expect(Explanation.explanations(of: [Event(.locked)], last: 10).isEmpty)
    }

    @Test func `omitted refusals count for their process and rule`() {
        let events = [
            refused("a", at: "1"), refused("a", at: "2", omitted: 5), refused("b", at: "3", rule: "inbox"),
            refused(nil, at: "4", operation: nil, omitted: 2),
        ]
        let explanations = Explanation.explanations(of: events, last: 10)
        #expect(explanations.map(\.path) == ["b", "a"])
        #expect(explanations.map(\.omitted) == [nil, 7])
        #expect(explanations.map(\.count) == [1, 2])
        // Where the record has nothing else of that process any more, it stands for itself.
        let alone = Explanation.explanations(of: events.suffix(1), last: 10)
        #expect(alone.map(\.count) == [0] && alone.map(\.omitted) == [2] && alone.map(\.path) == [nil])
    }

    @Test func `a rule of a later version has no words`() {
        let explanation = Explanation.explanations(of: [refused("a", at: "1", rule: "quantum")], last: 10).first
        #expect(explanation?.rule == "quantum" && explanation?.words == nil && explanation?.instead == nil)
    }

    // S-EVENT-10
    @Test func `chattr on a closed file is told of exclude`() {
        func instead(_ process: String, _ rule: Rule) -> String? {
            let event = Event(
                .refused, time: "1", app: "com.example.Notes", path: "a", operation: "open", pid: 7, process: process,
                rule: rule.rawValue, errno: "EPERM")
            return Explanation.explanations(of: [event], last: 1).first?.instead
        }
        #expect(instead("chattr", .dataProtection)?.contains("appcontainer exclude") == true)
        #expect(instead("cat", .dataProtection) == Rule.dataProtection.instead)
        #expect(instead("chattr", .sealedBundle) == Rule.sealedBundle.instead)
    }

    @Test(arguments: Rule.allCases) func `every rule has words on one line, without an end`(rule: Rule) {
        for text in [rule.words, rule.instead] {
            #expect(!text.isEmpty && !text.hasSuffix(".") && !text.contains("\n"))
        }
        #expect(Rule.allCases.filter { $0.words == rule.words || $0.instead == rule.instead } == [rule])
    }
}
