// Why an archive is not unpacked.

public import SandboxModel

/// The reason that an archive was not unpacked, or not to its end.
public enum ArchiveFault: Error, Hashable, Sendable {
    /// There is no file of that path.
    case missing
    /// What is wrong with the archive, for people: one line that goes on after the archive's own name.
    case refused(String)
    /// The host did not read the archive, or did not take what lies in it.
    case host(SystemError)

    /// The parts of the archive contradict each other.
    static let contradiction = refused("is damaged: its table of contents does not agree with what lies in it")
}

/// Runs system calls of the host and tells their error as a fault.
func onHost<Result: ~Copyable>(_ body: () throws(SystemError) -> Result) throws(ArchiveFault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw .host(error)
    }
}
