// What a command met on a device, as a JUnit file: the form that continuous integration shows.

import AppContainer
import Platform

struct JUnitFile {
    let command: [String]
    let outcome: Outcome
    let duration: Duration
    /// Refused calls, the oldest first.
    let refusals: [Event]

    /// What became of the command.
    enum Outcome {
        case ended(ChildProcess.End)
        /// It was not run; why, in a line.
        case failed(String)
    }

    /// Calls that were refused alike are one.
    private struct Refused: Hashable {
        let rule: String
        let operation: String
        let path: String
        let errno: String
        let process: String

        init(_ event: Event) {
            rule = event.rule ?? "unknown"
            operation = event.operation ?? "any call"
            path = event.path ?? "a file without a name"
            errno = event.errno ?? "EPERM"
            process = event.process ?? "a process that has ended"
        }
    }

    /// One suite: the command's own case, which its exit status decides, and a failed one for each sort of refusal.
    var xml: [UInt8] {
        var order: [Refused] = []
        var counts: [Refused: Int] = [:]
        var omitted = 0
        for event in refusals {
            omitted += event.omitted ?? 0
            guard !event.isSummary else { continue }
            let refused = Refused(event)
            if counts[refused] == nil { order.append(refused) }
            counts[refused, default: 0] += 1
        }
        let seconds = JUnitFile.seconds(duration)
        let name = JUnitFile.escaped(command.joined(separator: " "))
        let fault = fault
        let failures = order.count + (fault?.element == .failure ? 1 : 0)
        let counted =
            #"tests="\#(order.count + 1)" failures="\#(failures)" errors="\#(fault?.element == .error ? 1 : 0)""#
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuites \#(counted) time="\#(seconds)">"#,
            #"  <testsuite name="appcontainer" \#(counted) skipped="0" time="\#(seconds)">"#,
        ]
        lines += JUnitFile.testCase("command", name, time: seconds, fault: fault)
        for refused in order {
            let times = counts[refused] == 1 ? "" : ", \(counts[refused] ?? 0) times"
            lines += JUnitFile.testCase(
                "refused.\(JUnitFile.escaped(refused.rule))",
                JUnitFile.escaped("\(refused.operation) \(refused.path)"), time: "0",
                fault: Fault(
                    .failure, type: refused.rule,
                    "\(refused.operation) of \(refused.path) by \(refused.process): \(refused.errno)\(times)"))
        }
        if omitted > 0 {
            lines.append("    <system-out>\(omitted) further refusals were left out of the record</system-out>")
        }
        lines += ["  </testsuite>", "</testsuites>"]
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Why a case is not a success: what was tested failed, or it was not tested.
    private struct Fault {
        enum Element: String {
            case failure, error
        }

        let element: Element
        let type: String
        let message: String

        init(_ element: Element, type: String, _ message: String) {
            self.element = element
            self.type = type
            self.message = message
        }
    }

    private var fault: Fault? {
        switch outcome {
        case .ended(.exited(0)): nil
        case .ended(.exited(let status)): Fault(.failure, type: "exit", "ended with the exit status \(status)")
        case .ended(.killed(let signal)): Fault(.failure, type: "signal", "was ended by the signal \(signal)")
        case .failed(let message): Fault(.error, type: "appcontainer", message)
        }
    }

    private static func testCase(_ group: String, _ name: String, time: String, fault: Fault?) -> [String] {
        let head = #"    <testcase classname="\#(group)" name="\#(name)" time="\#(time)""#
        guard let fault else { return [head + "/>"] }
        let words = #"type="\#(escaped(fault.type))" message="\#(escaped(fault.message))""#
        return [head + ">", "      <\(fault.element.rawValue) \(words)/>", "    </testcase>"]
    }

    /// In milliseconds, which are as many as anybody reads.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Int(duration / .milliseconds(1))
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    /// The text as XML 1.0 has it in an attribute, where most control characters cannot be at all.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t", "\r": escaped += "&#\(scalar.value);"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar.value < 0x20 ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }
}
