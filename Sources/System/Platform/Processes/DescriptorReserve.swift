// What is kept of the descriptors that a process may open, for those who cannot go on without one.

public import SandboxModel

/// The last of the descriptors that this process may open.
///
/// Clients decide how many files they open and how many connections they make, so these end where the reserve begins.
/// The reserve is for what comes and goes within a call, and for libdispatch: while work waits, it looks at its threads
/// in /proc once a second, and ends the process where it gets no descriptor for that.
public enum DescriptorReserve {
    /// How many there are; fewer where the host grants hardly more.
    public static let size = 64

    /// Whether a descriptor is one of them. The host gives the lowest number that is free: one of the last tells that
    /// hardly another is.
    public static func holds(_ number: Int32) -> Bool {
        let limit = ProcessSettings.openFileLimit
        return Int(number) >= limit - min(size, limit / 4)
    }
}

extension Descriptor {
    /// To be asked of what stays open for a client.
    ///
    /// - Throws: ENFILE for one of the reserve. The client has descriptors left, or the call would not have come here.
    public borrowing func requireNotOfReserve() throws(SystemError) {
        if DescriptorReserve.holds(number) { throw .tooManyFilesInSystem }
    }
}
