// Connections to Unix sockets (unix(7)).

import Glibc
public import SandboxModel

extension Descriptor {
    /// `socket(2)` and `connect(2)`: a non-blocking, close-on-exec connection.
    ///
    /// - Throws: ENOENT and ECONNREFUSED if nobody listens; EAGAIN if the backlog is full; ENAMETOOLONG.
    public static func connected(toSocket path: String) throws(SystemError) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        // Shorter than the field, so that a NUL ends it.
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Descriptor(owning: try systemCall { socket(AF_UNIX, kind, 0) })
        let number = descriptor.number
        try systemCall {
            unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        return descriptor
    }
}
