// Opens the connection to the kernel: by mount(2) for root, otherwise through fusermount3.

import CFuse
import Glibc
import Platform
public import SandboxModel

extension Session {
    /// Makes libfuse's session.
    /// - Parameter session: the ``Session``, as every callback gets it; not retained.
    /// - Returns: nil if libfuse refuses the options, or has no memory.
    static func makeConnection(_ options: Options, _ session: UnsafeMutableRawPointer) -> OpaquePointer? {
        var arguments = unsafe fuse_args()
        defer { unsafe fuse_opt_free_args(&arguments) }
        // Only the program name of libfuse's messages; libfuse does not mount here.
        unsafe fuse_opt_add_arg(&arguments, options.subtype)
        var operations = makeOperations()
        return unsafe fuse_session_new(
            &arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, session)
    }

    /// Mounts by mount(2), without fusermount3.
    /// - Returns: the descriptor of the connection, which the caller closes.
    /// - Throws: ``MountFailure`` of kind `configuration`, `unavailable` or `refused`.
    func mountDirectly(at path: String) throws(MountFailure) -> Int32 {
        do throws(SystemError) {
            let device = try ActingUser.asSuperuser { () throws(SystemError) in
                try Descriptor.open(path: Preconditions.device, flags: O_RDWR)
            }
            try mountAgain(device.number, source: options.source, at: path)
            return device.release()
        } catch {
            throw Session.refusal(error, at: path)
        }
    }

    private static func refusal(_ error: SystemError, at path: String) -> MountFailure {
        switch error.code {
        case EPERM, EACCES:
            MountFailure(
                .configuration,
                "this process may not mount at \(path): in a container, give it --cap-add SYS_ADMIN --device /dev/fuse")
        case ENODEV:
            MountFailure(.unavailable, "the kernel has no FUSE: load its fuse module")
        default:
            MountFailure.system("mounting at \(path) failed", error.code)
        }
    }

    private func mountAgain(_ device: Int32, source: String, at path: String) throws(SystemError) {
        // The kernel requires the first four; `rootmode` is S_IFDIR in octal. `default_permissions`: it checks modes
        // itself.
        var list =
            "fd=\(device),rootmode=40000,user_id=\(ActingUser.starter),group_id=\(getgid()),default_permissions"
        if options.otherUsers { list += ",allow_other" }
        try HostMount.mount(source: source, at: path, type: "fuse.\(options.subtype)", options: list)
    }

    /// Mounts the same superblock at another path, with its own source name. For root only. The session ends when all
    /// its mounts are gone.
    public func mountAgain(source: String, at path: String) throws(SystemError) {
        try mountAgain(unsafe fuse_session_fd(connection), source: source, at: path)
    }

    func mountThroughHelper(at path: String) throws(MountFailure) -> Int32 {
        // fusermount3 splits the list at commas; a backslash escapes the next character.
        let source = options.source.map { $0 == "," || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        var list =
            "\(options.readOnly ? "ro" : "rw"),nosuid,nodev,fsname=\(source),subtype=\(options.subtype),default_permissions"
        if options.otherUsers { list += ",allow_other" }
        return try MountHelper.mount(at: path, options: list)
    }

    /// Gives libfuse the descriptor with our own write function, which completes the reply to INIT.
    /// - Parameter device: libfuse closes it with the session; closed here if libfuse refuses it.
    /// - Throws: ``MountFailure`` of kind `refused`.
    func connect(_ device: Int32) throws(MountFailure) {
        var channel = fuse_custom_io()
        unsafe channel.read = { device, buffer, size, _ in unsafe read(device, buffer, size) }
        unsafe channel.writev = { device, vector, count, session in
            let session = unsafe Unmanaged<Session>.fromOpaque(session!).takeUnretainedValue()
            return unsafe session.send(device, vector!, count)
        }
        let code = unsafe fuse_session_custom_io(connection, &channel, device)
        guard code == 0 else {
            close(device)
            throw MountFailure.system("libfuse refused the connection", -code)
        }
    }
}
