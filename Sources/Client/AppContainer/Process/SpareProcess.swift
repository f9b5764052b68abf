// A process that has started already when the next device is wanted.

import FoundationEssentials
import Platform
import Synchronization

/// A process `own` without an order. To start one takes as long as to copy a small device; who makes many copies has the
/// next one's start behind him while he is at work with the last.
enum SpareProcess {
    private struct Spare: Sendable {
        let program: String
        /// What it was started with: a device's process has the environment of who asked for it.
        let environment: [String: String]
        let process: TetheredProcess
    }

    private static let spare = Mutex<Spare?>(nil)

    private static let copied = Mutex<Set<String>>([])

    /// Whether a device was copied before: who makes a second copy will make a third.
    static func hasBeenCopied(_ template: String) -> Bool {
        copied.withLock { !$0.insert(template).inserted }
    }

    /// - Returns: nil when there is none of this program that was started with the present environment.
    static func take(of program: String, environment: [String: String] = present) -> TetheredProcess? {
        let taken = spare.withLock { spare in
            defer { spare = nil }
            return spare
        }
        guard let taken, taken.program == program, taken.environment == environment else { return nil }
        return taken.process
    }

    /// Starts one in a moment, when the device that was just made is unlocked and mounted: that is what somebody waits for.
    static func prepareSoon(of program: String) {
        WorkQueue().start(after: moment) { prepare(of: program) }
    }

    private static let moment = Duration.milliseconds(30)

    /// Starts one, unless there is one. It ends with this program, as every process that is tethered.
    static func prepare(of program: String) {
        let environment = present
        guard spare.withLock({ $0 == nil }), let process = try? DaemonProgram.start(program) else { return }
        keep(process, of: program, environment: environment)
    }

    /// - Parameter environment: what the process was started with.
    static func keep(_ process: TetheredProcess, of program: String, environment: [String: String] = present) {
        spare.withLock { spare in
            if spare == nil { spare = Spare(program: program, environment: environment, process: process) }
        }
    }

    static var present: [String: String] { ProcessInfo.processInfo.environment }
}
