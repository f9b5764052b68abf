// The JUnit file of `test`: the command's result and the calls that the device refused.

import AppContainer
import Platform

/// The JUnit file in the common form of Ant and Jenkins, which has no standard: one suite with test cases.
///
/// A refused call is a failed case, whether or not the command succeeded: a CI system then shows it by its path.
struct JUnitFile {
    /// The command with its arguments.
    let command: [String]
    let outcome: Outcome
    /// Of the command alone, without the making of the device.
    let duration: Duration
    /// Refused calls, the oldest first.
    let refusals: [Event]

    /// The result of the command.
    enum Outcome {
        case ended(ChildProcess.End)
        /// It was not run, for the given reason.
        case failed(String)
    }

    /// Equal refusals are one test case.
    /// The number of the process and the time are left out, because they differ in each run.
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

    /// One suite: a case for the command, decided by its exit status, and a failed case for each kind of refusal.
    var xml: [UInt8] {
        var order: [Refused] = []
        var counts: [Refused: Int] = [:]
        var omitted = 0
        for event in refusals {
            // A count of refusals that the record left out names no call, so it is no case.
            omitted = omitted.addingClamped(event.omitted ?? 0)
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

    /// The reason why a case failed, or could not be run.
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

    /// The fault of the command's case; nil for the exit status 0.
    private var fault: Fault? {
        switch outcome {
        case .ended(.exited(0)): nil
        case .ended(.exited(let status)): Fault(.failure, type: "exit", "ended with the exit status \(status)")
        case .ended(.killed(let signal)): Fault(.failure, type: "signal", "was ended by the signal \(signal)")
        case .failed(let message): Fault(.error, type: "appcontainer", message)
        }
    }

    /// The lines of a test case.
    /// - Parameters:
    ///   - group, name: escaped already; the texts of `fault` are not.
    ///   - time: seconds with three decimals, or `0`.
    private static func testCase(_ group: String, _ name: String, time: String, fault: Fault?) -> [String] {
        let head = #"    <testcase classname="\#(group)" name="\#(name)" time="\#(time)""#
        guard let fault else { return [head + "/>"] }
        let words = #"type="\#(escaped(fault.type))" message="\#(escaped(fault.message))""#
        return [head + ">", "      <\(fault.element.rawValue) \(words)/>", "    </testcase>"]
    }

    /// Seconds with three decimals.
    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = Int(duration / .milliseconds(1))
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    /// The text escaped for an attribute of XML 1.0. Control characters that XML forbids are replaced.
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
