// The proc filesystem, by which a file is opened again, a mount is found, and a process is known.

public import SandboxModel

public enum ProcFileSystem {
    /// `lstat(2)` of this process's directory in it.
    /// - Throws: ``Complaint`` of kind `procMissing` where /proc is not mounted, or is that of other processes.
    public static func require() throws(Complaint) {
        guard (try? HostPath.status("/proc/self/fd", following: false).kind) != .directory else { return }
        throw Complaint(
            .procMissing,
            "there is no /proc with this process in it, and appcontainer cannot do without; mount it with: "
                + "mount -t proc proc /proc")
    }
}
