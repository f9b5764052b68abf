// Finds the program `appcontainer`, and starts processes `own` of it.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// The program that serves devices.
enum DaemonProgram {
    /// The variable of the environment that names the program.
    static let variable = "APPCONTAINER"

    /// The path of the program: the one that the variable `APPCONTAINER` names, else the one beside the running
    /// program, where SwiftPM puts both, else the first `appcontainer` in `PATH`.
    /// - Throws: ``DeviceError`` of kind `programMissing`.
    static func path(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(DeviceError) -> String {
        if let named = environment[variable], !named.isEmpty {
            guard HostPath.isProgram(named) else {
                throw DeviceError(
                    .programMissing,
                    "the environment variable \(variable) names \(named), which is not a program that can be run; "
                        + "set it to the path of the command appcontainer")
            }
            return try Device.absolute(named)
        }
        if let own = try? ProcessSettings.executable(), let place = HostPath.place(of: own)?.directory,
            HostPath.isProgram("\(place)/appcontainer")
        {
            return "\(place)/appcontainer"
        }
        let separator: Character = ":"
        for directory in (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: separator) {
            let path = "\(directory)/appcontainer"
            // Absolute, because the process has another working directory.
            if HostPath.isProgram(path) { return try Device.absolute(path) }
        }
        throw DeviceError(
            .programMissing,
            "the command appcontainer is not in PATH; install it with scripts/install, or name it in the environment "
                + "variable \(variable)")
    }

    static func start(_ program: String) throws(SystemError) -> TetheredProcess {
        try TetheredProcess(executable: program, arguments: ["own"])
    }

    /// Sends an order to a process `own`, and waits for its answer.
    ///
    /// - Parameter isOneOfMany: whether a process is started for the next order ahead.
    /// - Returns: the process, which ends with its last reference at the latest, and its answer.
    /// - Throws: the error of the order, or one of kind `programMissing`, `daemonEnded` or `otherVersion`.
    static func own(
        _ order: DeviceOrder, isOneOfMany: Bool = false
    ) async throws(DeviceError) -> (TetheredProcess, StartReport) {
        let program = try path()
        let line: [UInt8]
        do {
            line = Array(try JSONEncoder().encode(order)) + [UInt8(ascii: "\n")]
        } catch {
            throw DeviceError(.badRequest, "the order cannot be written as JSON: \(error)")
        }
        let answer = await WorkQueue().run { () -> Result<(TetheredProcess, [UInt8]), SystemError> in
            Result { () throws(SystemError) in
                // A spare process may have been killed while it waited.
                if let spare = SpareProcess.take(of: program), (try? spare.write(line)) != nil,
                    let answer = try? spare.line(), !answer.isEmpty
                {
                    return (spare, answer)
                }
                let process = try start(program)
                try process.write(line)
                return (process, try process.line())
            }
        }
        if isOneOfMany { SpareProcess.prepareSoon(of: program) }
        switch answer {
        case .failure(let error):
            switch error.code {
            case ENOENT, ENOTDIR, EACCES, ENOEXEC, ELIBBAD:
                throw DeviceError(.programMissing, "\(program) cannot be started: \(error.message)")
            case EPIPE, ECONNRESET: throw StartReport.missing(from: program)
            default: throw DeviceError(error, doing: "cannot start \(program)")
            }
        case .success(let (process, report)):
            do throws(DeviceError) {
                return (process, try StartReport.decode(report, from: program))
            } catch {
                // The error may have kept the process from deleting the device, too.
                if order.keep != true, order.create != nil || order.clone != nil {
                    await end(process, of: order.device)
                }
                throw error
            }
        }
    }
}

extension DaemonProgram {
    /// Waits for the end of a device's own process. Deletes the device where that process was killed.
    static func end(_ process: TetheredProcess, of device: String) async {
        process.letGo()
        await WorkQueue().run {
            process.waitForEnd()
            guard (try? HostPath.status(device)) != nil, let program = try? path() else { return }
            try? TetheredProcess(executable: program, arguments: ["delete", device]).waitForEnd()
        }
    }
}

extension StartReport {
    fileprivate static func missing(from program: String) -> DeviceError {
        DeviceError(.daemonEnded, "\(program) ended without an answer; see what it says to: \(program) own </dev/null")
    }

    /// - Throws: the report's complaint, or an error of kind `otherVersion` for a line that is no report.
    fileprivate static func decode(_ line: [UInt8], from program: String) throws(DeviceError) -> StartReport {
        guard !line.isEmpty else { throw missing(from: program) }
        guard let report = try? JSONDecoder().decode(StartReport.self, from: Data(line)) else {
            throw DeviceError(
                .otherVersion,
                "\(program) did not answer as this library's version \(AppContainer.version) does; see that both are "
                    + "of one version")
        }
        if let complaint = report.complaint { throw complaint }
        return report
    }
}
