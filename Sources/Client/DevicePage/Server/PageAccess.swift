// The right to use a page: a token in its link, for one use, and then a cookie and a secret.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// The tokens, the cookie and the secret of one server. It compares digests alone, so that a comparison tells nothing
/// about a secret.
///
/// A cookie knows no port: a browser sends it to every server of 127.0.0.1, also to another user's. So it is of use for
/// the page's own files alone, which everybody may know. The page keeps the secret where only its own origin reads it,
/// port included, and sends it with each request.
///
/// Lock: of the tokens that were not used yet, a leaf.
final class PageAccess: Sendable {
    private let address: PageAddress
    private let cookie = PageAccess.makeSecret()
    private let cookieDigest: [UInt8]
    private let secretDigest: [UInt8]
    /// For the page that a token opens.
    let secret = PageAccess.makeSecret()
    /// Digests, the oldest first.
    private let unused = Mutex<[[UInt8]]>([])

    /// Links that nobody has opened. The oldest is of no use any more when there are more.
    static let mostUnused = 16
    /// The header with the secret, in lower case.
    static let header = "x-page-secret"

    init(_ address: PageAddress) {
        self.address = address
        cookieDigest = PageAccess.digest(cookie)
        secretDigest = PageAccess.digest(secret)
    }

    /// Makes a token that opens the page once.
    func makeToken() -> String {
        let token = PageAccess.makeSecret()
        unused.withLock { tokens in
            if tokens.count >= PageAccess.mostUnused { tokens.removeFirst() }
            tokens.append(PageAccess.digest(token))
        }
        return token
    }

    /// Takes a token, which is of no use from then on.
    /// - Returns: the header `Set-Cookie`; nil for a token that is wrong or used.
    func exchange(_ token: String) -> String? {
        let digest = PageAccess.digest(token)
        let isKnown = unused.withLock { tokens in
            guard let place = tokens.firstIndex(of: digest) else { return false }
            tokens.remove(at: place)
            return true
        }
        return isKnown ? "\(address.cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Strict" : nil
    }

    /// Whether a request has the cookie: enough for the page's own files.
    /// - Parameter headers: the values of its headers `Cookie`.
    func admits(cookies headers: [String]) -> Bool {
        let pairs = headers.flatMap { $0.split(separator: ";" as Character) }
        return pairs.contains { pair in
            let parts = pair.split(separator: "=" as Character, maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == address.cookieName else { return false }
            return PageAccess.digest(String(parts[1])) == cookieDigest
        }
    }

    /// Whether a request has the secret. All that concerns the device needs that and the cookie.
    /// - Parameter headers: the values of its headers ``header``.
    func admits(secrets headers: [String]) -> Bool {
        headers.count == 1 && PageAccess.digest(headers[0]) == secretDigest
    }

    /// 256 random bits.
    private static func makeSecret() -> String { Entropy.bytes(32).hexadecimal }

    private static func digest(_ text: String) -> [UInt8] { HashFunction.sha256.digest(of: Array(text.utf8)) }
}
