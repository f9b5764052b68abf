// Errors of the filesystem. They are one enumeration, so that the mapping to an errno is one exhaustive switch.

/// The error of an operation of the filesystem. `Errno.swift` in `ContainerMount` maps it to an errno.
public enum Fault: Error, Hashable, Sendable {
    /// A rule of the sandbox: EPERM.
    case refused(Rule)
    /// Stored bytes that do not authenticate: EIO.
    case corrupt
    /// An errno, from POSIX's own rules or from the host's answer.
    case system(SystemError)
}
