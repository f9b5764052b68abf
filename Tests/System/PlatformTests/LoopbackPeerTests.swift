// The user at the other end of a connection within this machine.

import Foundation
import Glibc
import Testing

@testable import Platform

@Suite("The user of a connection within this machine")
struct LoopbackPeerTests {
    private let line =
        "   3: 0100007F:C350 0100007F:1FBB 01 00000000:00000000 00:00000000 00000000  1000        0 81 1 0 20 4 30 10 -1"

    private func user(_ line: String, _ local: String = "0100007F:C350") -> uid_t? {
        LoopbackPeer.user(of: Array(line.utf8), local, "0100007F:1FBB")
    }

    @Test func `the line of the connection tells its user`() {
        #expect(user(line) == 1000)
    }

    @Test func `another connection's line does not`() {
        #expect(user(line, "0100007F:C351") == nil)
        #expect(user(line.replacing("1FBB", with: "1FBC")) == nil)
    }

    @Test(arguments: ["02", "04", "05", "06", "07", "08", "0A"])
    func `a connection that is not established tells nothing: nobody's socket is listed as root's`(state: String) {
        #expect(user(line.replacing(" 01 ", with: " \(state) ")) == nil)
    }

    @Test(arguments: ["", "sl local_address", "3: 0100007F:C350 0100007F:1FBB 01"])
    func `what is no such line tells nothing`(line: String) {
        #expect(user(line) == nil)
    }

    @Test func `a real connection is this user's`() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
            unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
            }
        }
        #expect(unsafe withAddress { unsafe bind(listener, $0, size) } == 0)
        #expect(listen(listener, 1) == 0)
        #expect(unsafe withAddress { unsafe getsockname(listener, $0, &size) } == 0)
        let server = UInt16(bigEndian: address.sin_port)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(unsafe withAddress { unsafe connect(client, $0, size) } == 0)
        #expect(unsafe withAddress { unsafe getsockname(client, $0, &size) } == 0)
        let port = UInt16(bigEndian: address.sin_port)
        #expect(LoopbackPeer.user(atPort: port, connectedTo: server) == geteuid())
        close(client)
        #expect(LoopbackPeer.user(atPort: port, connectedTo: server) == nil)
    }
}
