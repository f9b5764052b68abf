// Connections to Unix sockets.

import Glibc
public import SandboxModel

extension Descriptor {
    /// Connects to whoever listens at a Unix socket. No program that is started has the descriptor, and nothing waits on it.
    ///
    /// - Throws: ENOENT and ECONNREFUSED where nobody listens; EAGAIN where so many wait already that there is no room for
    ///   one more.
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
