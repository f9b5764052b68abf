// The checks that a request passes before anything looks at its path: it comes from the page, and from no other site.

import ControlServer

/// Decides whether a request comes from this server's own page.
///
/// A page of another site may send requests to 127.0.0.1, and a name of another site may be made to mean 127.0.0.1 (DNS
/// rebinding). Browsers tell the name in `Host`, the origin in `Origin`, and the relation in `Sec-Fetch-Site`.
struct PageGate {
    let address: PageAddress

    /// - Returns: the reason for which a request is refused; nil for one that may go on.
    func refusal(of request: HTTPRequest) -> String? {
        let names = request.values(of: "host")
        let hosts = address.hosts
        guard names.count == 1, hosts.contains(names[0]) else {
            return "this server is reached as \(hosts[0]), and under no other name"
        }
        let sites = request.values(of: "sec-fetch-site")
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            return "another site's page sent this request"
        }
        let origins = request.values(of: "origin")
        guard origins.allSatisfy({ $0 == "http://\(names[0])" }) else {
            return "another site's page sent this request"
        }
        // Browsers name the origin of each POST. Without one it is no page's request.
        guard request.method != "POST" || origins.count == 1 else {
            return "a POST has to name its origin"
        }
        return nil
    }
}
