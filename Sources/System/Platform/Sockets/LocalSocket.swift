// Connections to Unix sockets (unix(7)).

import CPlatform
import Glibc
public import SandboxModel

extension Descriptor {
    /// `socket(2)` and `connect(2)`: a non-blocking, close-on-exec connection.
    ///
    /// - Throws: ENOENT and ECONNREFUSED if nobody listens; EAGAIN if the backlog is full; ENAMETOOLONG.
    public static func connected(toSocket path: String) throws(SystemError) -> Descriptor {
        let descriptor = try localSocket()
        try ActingUser.asSuperuser { () throws(SystemError) in try descriptor.connect(toSocket: path) }
        return descriptor
    }

    /// `connect(2)`, of a ``localSocket()``.
    public borrowing func connect(toSocket path: String) throws(SystemError) {
        let number = self.number
        try unsafe Descriptor.withAddress(of: path) { address, length in unsafe Glibc.connect(number, address, length) }
    }

    /// `socket(2)`: a non-blocking, close-on-exec Unix socket.
    public static func localSocket() throws(SystemError) -> Descriptor {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return Descriptor(owning: try systemCall { socket(AF_UNIX, kind, 0) })
    }

    /// `socket(2)`, `bind(2)`, `chmod(2)` and `listen(2)`: a non-blocking, close-on-exec socket that clients can
    /// connect to.
    ///
    /// - Parameter permissions: the mode of the socket's file from its first connection on.
    /// - Throws: EADDRINUSE if something is at the path; ENAMETOOLONG.
    public static func listening(atSocket path: String, permissions: UInt32) throws(SystemError) -> Descriptor {
        let descriptor = try localSocket()
        let number = descriptor.number
        try ActingUser.asSuperuser { () throws(SystemError) in
            try unsafe withAddress(of: path) { address, length in unsafe Glibc.bind(number, address, length) }
            try HostPath.changeMode(of: path, to: permissions)
        }
        try descriptor.listen()
        return descriptor
    }

    /// `bind(2)`, of a ``localSocket()``: makes the name, whose directory's path may be of any length.
    /// - Throws: EADDRINUSE if the name is taken.
    public borrowing func bind(to name: FileName, in directory: borrowing Descriptor) throws(SystemError) {
        let number = self.number
        let path = Array("/proc/self/fd/\(directory.number)/".utf8) + name.bytes
        try unsafe Descriptor.withAddress(of: path) { address, length in unsafe Glibc.bind(number, address, length) }
    }

    /// `listen(2)`, of a bound socket. `SO_PEERCRED` tells each client the user that this process was started by.
    public borrowing func listen() throws(SystemError) {
        let number = self.number
        try ActingUser.asSuperuser { () throws(SystemError) in
            try systemCall { Glibc.listen(number, Descriptor.backlog) }
        }
    }

    /// `recv(2)`.
    /// - Returns: at least one byte; none at the end of the stream.
    /// - Throws: EAGAIN if the socket does not block and nothing has arrived.
    public borrowing func receive(atMost count: Int) throws(SystemError) -> [UInt8] {
        let number = self.number
        var failure: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                filled = try systemCall { unsafe recv(number, buffer.baseAddress, count, 0) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// `send(2)`, without the signal SIGPIPE.
    /// - Returns: the count of bytes sent, from the first on.
    /// - Throws: EAGAIN if the socket does not block and takes nothing now; EPIPE if the other end is closed.
    public borrowing func send(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        let number = self.number
        return try systemCall {
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// `shutdown(2)` with `SHUT_WR`.
    public borrowing func closeWriting() throws(SystemError) {
        let number = self.number
        try systemCall { shutdown(number, Int32(SHUT_WR)) }
    }

    /// `accept4(2)`: the next client's connection, non-blocking and close-on-exec.
    /// - Throws: EAGAIN if no client waits.
    public borrowing func accept() throws(SystemError) -> SharedDescriptor {
        let number = self.number
        return SharedDescriptor(Descriptor(owning: try systemCall { platform_accept(number) }))
    }

    /// Clients that may wait to be accepted.
    private static let backlog: Int32 = 256

    /// `socket(2)` and `sendto(2)`: one datagram.
    /// - Parameter name: the socket's path, or a leading NUL and the name of one without a file.
    /// - Throws: ECONNREFUSED or ENOENT if nobody listens; ENAMETOOLONG.
    static func send(_ bytes: [UInt8], toDatagramSocket name: [UInt8]) throws(SystemError) {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let sender = Descriptor(owning: try systemCall { socket(AF_UNIX, kind, 0) })
        let number = sender.number
        try unsafe withAddress(of: name) { address, length in
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe sendto(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL), address, length)
            }
            return sent < 0 ? -1 : 0
        }
    }

    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        try unsafe withAddress(of: Array(path.utf8), body)
    }

    /// - Parameter name: as of ``send(_:toDatagramSocket:)``.
    private static func withAddress(
        of name: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Shorter than the field, so that a NUL ends a path.
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        // The name of a socket without a file is as long as the address says.
        let length =
            name.first == 0
            ? MemoryLayout.offset(of: \sockaddr_un.sun_path)! + name.count : MemoryLayout<sockaddr_un>.size
        try systemCall {
            unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(length))
                }
            }
        }
    }
}
