// The user at the other end of a connection within this machine.

import Foundation
import Glibc
import Testing

@testable import Platform

@Suite("The user of a connection within this machine")
struct LoopbackPeerTests {
    /// Sockets of a connection, by their numbers and ports. The caller closes them.
    private struct Connection {
        let listener: Int32
        let client: Int32
        let port: UInt16
        let server: UInt16

        /// - Parameter source: the client's own address, of the four bytes 127.0.0.N.
        init(from source: UInt32 = INADDR_LOOPBACK) {
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(unsafe Connection.call(bind, listener, INADDR_LOOPBACK, 0) == 0)
            #expect(listen(listener, 1) == 0)
            server = Connection.port(of: listener)
            client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(unsafe Connection.call(bind, client, source, 0) == 0)
            #expect(unsafe Connection.call(connect, client, INADDR_LOOPBACK, server) == 0)
            port = Connection.port(of: client)
        }

        var user: uid_t? { LoopbackPeer.user(atPort: port, connectedTo: server) }

        private static func call(
            _ body: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ number: Int32, _ host: UInt32,
            _ port: UInt16
        ) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = host.bigEndian
            address.sin_port = port.bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            return unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body(number, $0, size) }
            }
        }

        private static func port(of number: Int32) -> UInt16 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe getsockname(number, address, &size)
                }
            }
            #expect(result == 0)
            return UInt16(bigEndian: address.sin_port)
        }
    }

    @Test func `a connection is this user's, also after the client has closed its half, and nobody's after its end`() {
        let connection = Connection()
        defer { close(connection.listener) }
        #expect(connection.user == geteuid())
        #expect(shutdown(connection.client, Int32(SHUT_WR)) == 0)
        #expect(connection.user == geteuid())
        close(connection.client)
        #expect(connection.user == nil)
    }

    @Test func `a connection of the same ports from another address is another one`() {
        let connection = Connection(from: INADDR_LOOPBACK + 1)
        defer {
            close(connection.client)
            close(connection.listener)
        }
        #expect(connection.user == nil)
    }

    @Test func `a listener at the client's port is no client`() {
        let connection = Connection()
        defer {
            close(connection.client)
            close(connection.listener)
        }
        #expect(LoopbackPeer.user(atPort: connection.server, connectedTo: 9) == nil)
    }

    /// As the kernel of x86-64 and arm64 writes it: of the user 1000, from port 50000 to 8123.
    private func reply(_ number: UInt32 = 7, state: UInt8 = 1, inode: UInt8 = 81, type: UInt8 = 20) -> [UInt8] {
        var reply = [UInt8](repeating: 0, count: 88)
        reply[4] = type
        reply[8] = UInt8(number)
        reply[17] = state
        reply.replaceSubrange(20..<24, with: [0xC3, 0x50, 0x1F, 0xBB])
        reply.replaceSubrange(80..<82, with: [0xE8, 0x03])
        reply[84] = inode
        return reply
    }

    private func user(_ reply: [UInt8]) -> uid_t? { LoopbackPeer.user(in: reply, to: 7, 50000, 8123) }

    @Test func `only the reply about a connected socket of somebody tells its user`() {
        #expect(user(reply()) == 1000)
        for state: UInt8 in [2, 3, 6, 7, 8, 9, 10, 11, 12] { #expect(user(reply(state: state)) == nil, "\(state)") }
        #expect(user(reply(inode: 0)) == nil)
        #expect(user(reply(type: 2)) == nil)
        #expect(user(reply(8)) == nil)
        #expect(LoopbackPeer.user(in: reply(), to: 7, 50001, 8123) == nil)
        #expect(LoopbackPeer.user(in: reply(), to: 7, 50000, 8124) == nil)
        for count in 0..<88 { #expect(user(Array(reply().prefix(count))) == nil) }
    }
}
