// A process `own` that is started before the next device is ordered.

import FoundationEssentials
import Platform
import Synchronization

/// A process `own` without an order. Its start takes as long as the copy of a small device: a program that makes many
/// copies starts the next process while it works with the last device.
///
/// Locks: one for each variable, for moments only; no process is started under them.
enum SpareProcess {
    private struct Spare: Sendable {
        let program: String
        /// Its environment: a device's process has that of its client.
        let environment: [String: String]
        let process: TetheredProcess
    }

    private static let spare = Mutex<Spare?>(nil)

    private static let copied = Mutex<Set<String>>([])

    /// Whether a device was copied before. A program that makes a second copy will probably make a third.
    static func hasBeenCopied(_ template: String) -> Bool {
        copied.withLock { !$0.insert(template).inserted }
    }

    /// Takes the spare process.
    /// - Returns: nil when there is none of this program with the present environment.
    static func take(of program: String, environment: [String: String] = present) -> TetheredProcess? {
        let taken = spare.withLock { spare in
            defer { spare = nil }
            return spare
        }
        guard let taken, taken.program == program, taken.environment == environment else { return nil }
        return taken.process
    }

    /// Starts one a moment later, when the device that was just made is unlocked and mounted, which its user waits for.
    static func prepareSoon(of program: String) {
        Timers.host.start(after: moment) { prepare(of: program) }
    }

    private static let moment = Duration.milliseconds(30)

    /// Starts one, unless there is one. It ends with this program, as every ``TetheredProcess``.
    static func prepare(of program: String) {
        let environment = present
        guard spare.withLock({ $0 == nil }), let process = try? DaemonProgram.start(program) else { return }
        keep(process, of: program, environment: environment)
    }

    /// Keeps a process as the spare one, unless there is one.
    /// - Parameter environment: that of the process.
    static func keep(_ process: TetheredProcess, of program: String, environment: [String: String] = present) {
        spare.withLock { spare in
            if spare == nil { spare = Spare(program: program, environment: environment, process: process) }
        }
    }

    static var present: [String: String] { ProcessInfo.processInfo.environment }
}
