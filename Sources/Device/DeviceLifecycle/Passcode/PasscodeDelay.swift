// The waits after wrong passcodes, and their messages.

import BackingStore
import SandboxModel

extension PasscodeAttempts {
    private static let nanosecond: Int64 = 1_000_000_000

    /// Seconds that the next attempt has to wait after these: the first five are free (Format.md, "Wrong passcodes").
    var delay: Int64 {
        switch wrong {
        case ..<5: 0
        case 5: 60
        case 6: 5 * 60
        case 7: 15 * 60
        default: 60 * 60
        }
    }

    /// Whether the time since these attempts is known: it is not after the host was booted anew.
    func isMeasurable(at now: HostInstant) -> Bool {
        bootID == now.bootID && nanoseconds <= now.nanoseconds
    }

    /// The seconds that are left to wait, up to the next whole one; 0 when an attempt is let in. For attempts whose
    /// time is measurable, or that are free.
    func secondsLeft(at now: HostInstant) -> Int64 {
        let left = delay * PasscodeAttempts.nanosecond - (now.nanoseconds - nanoseconds)
        return delay == 0 || left <= 0 ? 0 : (left - 1) / PasscodeAttempts.nanosecond + 1
    }
}

extension Complaint {
    /// - Parameter attempts: with the wrong one that was just counted.
    static func wrongPasscode(_ attempts: PasscodeAttempts, path: String) -> Complaint {
        let count = "wrong attempts so far: \(attempts.wrong)"
        guard attempts.delay > 0 else {
            return Complaint(.wrongPasscode, "wrong passcode for \(path) (\(count)); try again with the right one")
        }
        return Complaint(
            .wrongPasscode,
            "wrong passcode for \(path) (\(count)); try again with the right one in \(duration(attempts.delay))")
    }

    /// For an attempt within the wait. Its passcode was not looked at, and it does not count.
    static func passcodeDelayed(_ attempts: PasscodeAttempts, secondsLeft: Int64, path: String) -> Complaint {
        Complaint(
            .passcodeDelayed,
            "\(path) takes no passcode now (wrong attempts so far: \(attempts.wrong)); try again in "
                + duration(secondsLeft))
    }

    /// 75 as `1 minute 15 seconds`.
    private static func duration(_ seconds: Int64) -> String {
        func words(_ number: Int64, _ unit: String) -> String? {
            number == 0 ? nil : "\(number) \(unit)\(number == 1 ? "" : "s")"
        }
        return [words(seconds / 60, "minute"), words(seconds % 60, "second")].compactMap { $0 }.joined(separator: " ")
    }
}
