// A program that is run to its end for its status and its complaint.

import CPlatform
import CProcess
import Glibc
public import SandboxModel

public enum CapturedProcess {
    /// `posix_spawn(3)` and `waitpid(2)`: runs a program in this process's working directory, without input and output,
    /// and waits for its end. Blocks, also for descendants of the program that have its standard error open.
    ///
    /// - Parameters:
    ///   - executable: a path.
    ///   - environment: each is `NAME=value`.
    ///   - namespace: the program finds it as the descriptor ``UserNamespace/descriptor``.
    /// - Returns: how it ended, and its standard error.
    /// - Throws: the error of `posix_spawn(3)`.
    public static func run(
        executable: String, arguments: [String], environment: [String], namespace: UserNamespace? = nil
    ) throws(SystemError) -> (end: ChildProcess.End, errors: [UInt8]) {
        var ends: [Int32] = [-1, -1]
        try systemCall { unsafe platform_socket_pair(&ends) }
        let ours = Descriptor(owning: ends[0])
        let process: pid_t
        do {
            let theirs = Descriptor(owning: ends[1])
            process = try ProcessStart.start(
                executable: executable, arguments: arguments, environment: environment,
                descriptors: [nil, nil, theirs.number] + (namespace.map { [nil, nil, $0.number] } ?? []))
        }
        var errors: [UInt8] = []
        while let piece = try? ours.receive(atMost: 4096), !piece.isEmpty { errors += piece }
        var status: Int32 = 0
        let error = unsafe process_wait(process, &status)
        guard error == 0 else { throw SystemError(code: error) }
        return (ChildProcess.End(status: status), errors)
    }
}
