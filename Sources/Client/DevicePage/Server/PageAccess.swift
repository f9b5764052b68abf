// The right to use a page: a token in its link, for one use, and then a cookie.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// The tokens and the cookie of one server. It keeps digests alone, so that a comparison tells nothing about a secret.
///
/// Lock: of the tokens that were not used yet, a leaf.
final class PageAccess: Sendable {
    private let address: PageAddress
    private let cookie: String
    private let cookieDigest: [UInt8]
    private let unused = Mutex<Set<[UInt8]>>([])

    /// Links that nobody has opened; older ones are of no use any more.
    private static let mostUnused = 16

    init(_ address: PageAddress) {
        self.address = address
        cookie = PageAccess.secret()
        cookieDigest = PageAccess.digest(cookie)
    }

    /// Makes a token that opens the page once.
    func makeToken() -> String {
        let token = PageAccess.secret()
        unused.withLock { tokens in
            if tokens.count >= PageAccess.mostUnused { tokens = [] }
            tokens.insert(PageAccess.digest(token))
        }
        return token
    }

    /// Takes a token, which is of no use from then on.
    /// - Returns: the header `Set-Cookie`; nil for a token that is wrong or used.
    func exchange(_ token: String) -> String? {
        let digest = PageAccess.digest(token)
        guard unused.withLock({ $0.remove(digest) }) != nil else { return nil }
        return "\(address.cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Strict"
    }

    /// Whether a request has the cookie.
    /// - Parameter headers: the values of its headers `Cookie`.
    func admits(_ headers: [String]) -> Bool {
        let pairs = headers.flatMap { $0.split(separator: ";" as Character) }
        return pairs.contains { pair in
            let parts = pair.split(separator: "=" as Character, maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == address.cookieName else { return false }
            return PageAccess.digest(String(parts[1])) == cookieDigest
        }
    }

    /// 256 random bits.
    private static func secret() -> String { Entropy.bytes(32).hexadecimal }

    private static func digest(_ text: String) -> [UInt8] { HashFunction.sha256.digest(of: Array(text.utf8)) }
}
