// The address of a page's server, known once it listens.

import Synchronization

/// The port, and the names under which the page is reached. Before the server listens the port is 0, under which
/// nothing is reached.
final class PageAddress: Sendable {
    private let number = Atomic<Int>(0)

    var port: Int { number.load(ordering: .acquiring) }

    func set(port: Int) { number.store(port, ordering: .releasing) }

    /// The names that a browser may have in `Host`. It leaves the port of HTTP out.
    var hosts: [String] {
        let names = ["127.0.0.1", "localhost"]
        let whole = names.map { "\($0):\(port)" }
        return port == PageAddress.portOfHTTP ? whole + names : whole
    }

    private static let portOfHTTP = 80

    /// Other servers of this machine get the same cookies, whatever their port: so the name of a cookie has it.
    var cookieName: String { "appcontainer-\(port)" }

    /// The address that opens the page once.
    func link(_ token: String) -> String { "http://127.0.0.1:\(port)/?token=\(token)" }
}
