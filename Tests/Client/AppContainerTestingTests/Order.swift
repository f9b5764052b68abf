// An order for a test that another test starts in a process of its own: fail, forget a file, be killed.

import Foundation
import Platform

enum Order: String {
    case fail
    case forgetToClose
    case waitToBeKilled
    /// Touch a mapping whose file is closed by a lock, older than a restart, cut, or on the host.
    case touchLocked, touchRestarted, touchCut, touchOfHost
    /// As the first, with a file that was replaced or removed meanwhile, or with a name that reads like one of those.
    case touchReplaced, touchRemoved, touchOddlyNamed
    /// As the first, in a process that has a handler of its own.
    case touchLockedAndCatch

    private static let variable = "TEST_ORDER"

    /// The order for this process; nothing in a usual run of the tests.
    static var given: Order? { ProcessInfo.processInfo.environment[variable].flatMap(Order.init) }

    /// This program once more, with a directory for what is temporary, and told to do this in some of its tests.
    ///
    /// - Parameters:
    ///   - arguments: as `swift test` gives them.
    ///   - environment: what is to be different there.
    ///   - host: a command that starts what it is given as arguments on a host as the test wants it.
    static func process(
        _ order: Order?, _ arguments: [String], in directory: String, environment: [String: String] = [:],
        on host: [String] = ["/usr/bin/env"]
    ) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: host[0])
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        process.arguments = Array(host.dropFirst()) + [program] + arguments
        var variables = ProcessInfo.processInfo.environment
        variables["TMPDIR"] = directory
        variables[variable] = order?.rawValue
        process.environment = variables.merging(environment) { $1 }
        return process
    }
}

/// The output of a process, and its end.
struct Run {
    let status: Int32
    /// The signal that ended the process.
    var signal: Int32? { reason == .uncaughtSignal ? status : nil }
    let output: String
    private let reason: Process.TerminationReason

    init(_ process: Process) throws {
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
        reason = process.terminationReason
    }
}

/// For a list, which takes no noncopyable value.
final class ProcessBox {
    private let handle: ProcessHandle

    init?(_ identifier: Int32) {
        guard let handle = ProcessHandle(identifier) else { return nil }
        self.handle = handle
    }

    /// Waits for its end, which a machine with much else to do may put off.
    func ends() -> Bool { handle.waitForEnd(milliseconds: 60_000) }
}
