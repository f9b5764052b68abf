// A program that this process starts and waits for, or lets go of.

import CPlatform
public import Glibc
public import SandboxModel

/// A started program.
public struct ChildProcess: Sendable {
    public let identifier: pid_t

    /// How a program ended.
    public enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the first names the program: a path, or a name that is looked for in `PATH`.
    ///   - environment: `NAME=value` each.
    ///   - directory: its working directory.
    ///   - detached: in a session of its own, with /dev/null as its standard descriptors.
    /// - Throws: ENOENT when there is no such program, EACCES or ENOEXEC when it cannot be run.
    public init(
        arguments: [String], environment: [String], directory: String, detached: Bool
    ) throws(SystemError) {
        // Copies that live until posix_spawnp has returned, with the NULL that ends each vector.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var identifier: pid_t = 0
        let error = unsafe platform_spawn_in(
            &identifier, arguments[0], &words, &variables, directory, detached ? 1 : 0)
        guard error == 0 else { throw SystemError(code: error) }
        self.identifier = identifier
    }

    /// Waits until the program has ended.
    public func wait() throws(SystemError) -> End {
        var status: Int32 = 0
        try systemCall { unsafe waitpid(identifier, &status, 0) }
        // WIFSIGNALED and its siblings are macros that Swift does not import.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    public func send(_ signal: Int32) {
        kill(identifier, signal)
    }
}
