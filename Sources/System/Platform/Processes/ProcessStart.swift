// Starting a program with an exact set of descriptors.

import CProcess
public import Glibc
public import SandboxModel

public enum ProcessStart {
    /// `posix_spawn(3)`, with default signals.
    ///
    /// - Parameters:
    ///   - environment: each `NAME=value`; nil for that of this process.
    ///   - descriptors: the program's descriptors from 0 on, at most eight; nil is /dev/null.
    ///   - detached: leads a session, with `/` as its working directory.
    /// - Returns: the process identifier. The caller must wait for the process.
    /// - Throws: the error of `posix_spawn(3)`, such as ENOENT, EACCES or E2BIG; EINVAL for too many descriptors.
    public static func start(
        executable: String, arguments: [String], environment: [String]? = nil, descriptors: [Int32?],
        detached: Bool = false
    ) throws(SystemError) -> pid_t {
        // Copies with a NULL at the end, which live until posix_spawn has returned.
        var vector = unsafe copies([executable] + arguments)
        var variables = unsafe copies(environment ?? [])
        defer {
            for index in unsafe vector.indices { unsafe free(vector[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        let numbers = descriptors.map { $0 ?? -1 }
        var identifier: pid_t = 0
        let error = unsafe vector.withUnsafeMutableBufferPointer { vector in
            unsafe variables.withUnsafeMutableBufferPointer { variables in
                unsafe process_spawn(
                    &identifier, executable, vector.baseAddress, environment == nil ? nil : variables.baseAddress,
                    numbers, Int32(numbers.count), detached ? 1 : 0)
            }
        }
        guard error == 0 else { throw SystemError(code: error) }
        return identifier
    }

    /// `waitpid(2)`: waits for the end of a child.
    public static func wait(for process: pid_t) -> ChildProcess.End {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return ChildProcess.End(status: status)
    }

    private static func copies(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe copies.append(nil)
        return unsafe copies
    }
}
