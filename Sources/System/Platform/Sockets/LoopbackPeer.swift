// The user at the other end of a TCP connection within this machine, by /proc/net/tcp (proc_pid_net(5)).

public import Glibc
import SandboxModel

/// Tells whose process is connected to a port of 127.0.0.1. The kernel has no SO_PEERCRED for TCP.
public enum LoopbackPeer {
    /// The user of the client's socket, while the connection is established: it cannot be another one's meanwhile.
    /// - Parameters:
    ///   - port: the client's.
    ///   - server: the port that it is connected to.
    /// - Returns: nil where the kernel does not tell, or not any more: a socket that nobody has is listed as root's.
    public static func user(atPort port: UInt16, connectedTo server: UInt16) -> uid_t? {
        for (table, address) in [("tcp", address), ("tcp6", mappedAddress)] {
            guard let text = try? HostPath.contents("/proc/net/\(table)") else { continue }
            let local = "\(address):\(hexadecimal(port))"
            let remote = "\(address):\(hexadecimal(server))"
            for line in text.split(separator: UInt8(ascii: "\n")) {
                if let user = user(of: line, local, remote) { return user }
            }
        }
        return nil
    }

    /// The user in a line: number, local and remote address, state, queues, timer, retransmissions, user.
    /// - Returns: nil for another connection, and for one that is not established.
    static func user(of line: some Collection<UInt8>, _ local: String, _ remote: String) -> uid_t? {
        let words = String(decoding: Array(line), as: UTF8.self).split(separator: " " as Character)
        guard words.count > 7, words[1] == local, words[2] == remote, words[3] == established else { return nil }
        return uid_t(words[7])
    }

    /// TCP_ESTABLISHED of <netinet/tcp.h>.
    private static let established = "01"
    /// 127.0.0.1 as the kernel prints its bytes.
    private static let address = hexadecimal(INADDR_LOOPBACK.bigEndian)
    /// The same for a socket of IPv6: ::ffff:127.0.0.1.
    private static let mappedAddress =
        hexadecimal(UInt32(0)) + hexadecimal(UInt32(0)) + hexadecimal(UInt32(0xFFFF).bigEndian) + address

    private static func hexadecimal<Number: FixedWidthInteger>(_ number: Number) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
    }
}
