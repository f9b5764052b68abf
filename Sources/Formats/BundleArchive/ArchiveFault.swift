// Errors of unpacking an archive.

public import SandboxModel

/// The reason for which an archive was not unpacked, or not to its end.
public enum ArchiveFault: Error, Hashable, Sendable {
    /// There is no file of that path.
    case missing
    /// The archive is invalid or exceeds a limit. The text, for people, continues a line after the archive's own name.
    case refused(String)
    /// Reading the archive, or writing its content, failed on the host.
    case host(SystemError)

    /// The parts of the archive contradict each other.
    static let contradiction = refused("is damaged: its table of contents does not agree with what lies in it")
}

/// Runs system calls, and throws their error as ``ArchiveFault/host(_:)``.
func onHost<Result: ~Copyable>(_ body: () throws(SystemError) -> Result) throws(ArchiveFault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw .host(error)
    }
}
