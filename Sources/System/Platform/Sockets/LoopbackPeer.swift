// The user at the other end of a TCP connection within this machine, by sock_diag(7).

public import Glibc
import SandboxModel

/// Tells whose process is connected to a port of 127.0.0.1. The kernel has no SO_PEERCRED for TCP, but finds a socket
/// by its two addresses: one question, however many connections there are.
public enum LoopbackPeer {
    /// The user of the client's socket, while a process has it. It may have closed its half behind a request.
    ///
    /// The answer is about this connection as long as the server's own socket is connected after it: until then no
    /// other connection can have its addresses.
    /// - Parameters:
    ///   - port: the client's.
    ///   - server: the port that it is connected to.
    /// - Returns: nil where the kernel does not tell: nobody has the socket any more, or it knows no sock_diag(7).
    public static func user(atPort port: UInt16, connectedTo server: UInt16) -> uid_t? {
        let number = UInt32.random(in: 1 ... .max)
        guard let reply = try? answer(to: question(port, server, number)) else { return nil }
        return user(in: reply, to: number, port, server)
    }

    // MARK: Messages, as <linux/netlink.h> and <linux/inet_diag.h> have them

    /// NETLINK_SOCK_DIAG.
    private static let family: Int32 = 4
    /// SOCK_DIAG_BY_FAMILY.
    private static let byFamily: UInt16 = 20
    /// NLM_F_REQUEST, without NLM_F_DUMP: the one socket that has exactly these addresses.
    private static let request: UInt16 = 1
    private static let headerSize = 16
    /// Of `struct inet_diag_msg`.
    private static let replySize = 72
    /// TCP_ESTABLISHED, TCP_FIN_WAIT1 and TCP_FIN_WAIT2: in the last two the client has closed its half.
    private static let connected: Set<UInt8> = [1, 4, 5]

    /// A `struct inet_diag_req_v2` behind its header.
    static func question(_ port: UInt16, _ server: UInt16, _ number: UInt32) -> [UInt8] {
        let address = bytes(INADDR_LOOPBACK.bigEndian) + [UInt8](repeating: 0, count: 12)
        var body: [UInt8] = [UInt8(AF_INET), UInt8(IPPROTO_TCP), 0, 0]
        body += bytes(UInt32.max)
        body += bytes(port.bigEndian) + bytes(server.bigEndian) + address + address
        // Any interface, and any cookie.
        body += bytes(UInt32(0)) + [UInt8](repeating: 0xFF, count: 8)
        let head = bytes(UInt32(headerSize + body.count)) + bytes(byFamily) + bytes(request)
        return head + bytes(number) + bytes(UInt32(0)) + body
    }

    /// The user in a reply.
    /// - Returns: nil for an error, for another socket (a listener is found where no connection is), and for one that
    ///   nobody has, which is listed as root's.
    static func user(in reply: [UInt8], to number: UInt32, _ port: UInt16, _ server: UInt16) -> uid_t? {
        let body = headerSize
        guard reply.count >= body + replySize, value(UInt16.self, in: reply, at: 4) == byFamily,
            value(UInt32.self, in: reply, at: 8) == number, connected.contains(reply[body + 1]),
            value(UInt16.self, in: reply, at: body + 4) == port.bigEndian,
            value(UInt16.self, in: reply, at: body + 6) == server.bigEndian,
            // The inode.
            value(UInt32.self, in: reply, at: body + 68) != 0
        else { return nil }
        return value(UInt32.self, in: reply, at: body + 64)
    }

    private static func answer(to question: [UInt8]) throws(SystemError) -> [UInt8] {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let netlink = try Descriptor(owning: systemCall { socket(AF_NETLINK, kind, family) })
        // To the kernel, whose reply is there when this returns. Only who may administer the network could send here
        // too.
        try systemCall { unsafe send(netlink.number, question, question.count, 0) }
        var reply = [UInt8](repeating: 0, count: 1024)
        let size = try systemCall { unsafe recv(netlink.number, &reply, reply.count, Int32(MSG_DONTWAIT)) }
        return Array(reply.prefix(size))
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> ($0 * 8)) }
    }

    /// A number in the machine's order of bytes.
    private static func value<Number: FixedWidthInteger>(_: Number.Type, in bytes: [UInt8], at place: Int) -> Number {
        let raw = (0..<Number.bitWidth / 8).reduce(Number(0)) { $0 | Number(bytes[place + $1]) << ($1 * 8) }
        return Number(littleEndian: raw)
    }
}
