// The ways by which the kernel's requests reach the program.

/// The way by which a mount's requests and replies travel between the kernel and the program.
public enum Transport: String, Codable, CaseIterable, Sendable {
    /// read(2) and write(2) of /dev/fuse.
    case devFuse = "dev-fuse"
    /// FUSE over io_uring (Documentation/filesystems/fuse-io-uring.rst of Linux).
    case ioUring = "io-uring"
}

/// The transport that a mount asks for.
public enum TransportChoice: String, Codable, CaseIterable, Sendable {
    /// io_uring where the kernel offers it, otherwise /dev/fuse.
    case automatic = "auto"
    case devFuse = "dev-fuse"
    /// io_uring, or the mount fails.
    case ioUring = "io-uring"

    /// Whether a mount over the transport is what was asked for.
    public func admits(_ transport: Transport) -> Bool {
        switch self {
        case .automatic: true
        case .devFuse: transport == .devFuse
        case .ioUring: transport == .ioUring
        }
    }
}
