// The right to use a page: one token, one use, and a cookie that nobody guesses.

import Testing

@testable import DevicePage

@Suite("The right to use a page")
struct PageAccessTests {
    private let address = PageAddress()
    private let access: PageAccess

    init() {
        address.set(port: 8123)
        access = PageAccess(address)
    }

    private func cookie() throws -> String {
        let header = try #require(access.exchange(access.makeToken()))
        return String(header.prefix { $0 != ";" })
    }

    @Test func `a token is of use once`() throws {
        let token = access.makeToken()
        #expect(access.exchange(token) != nil)
        #expect(access.exchange(token) == nil)
    }

    @Test func `a token is long and random, and nothing else is taken for one`() {
        let token = access.makeToken()
        #expect(token.count == 64 && token != access.makeToken())
        for wrong in ["", "0", String(token.dropLast()), token + "0", token.uppercased() + " "] {
            #expect(access.exchange(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `the cookie is for this server's requests alone`() throws {
        let header = try #require(access.exchange(access.makeToken()))
        #expect(header.hasPrefix("appcontainer-8123="))
        #expect(header.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
    }

    @Test func `a request with the cookie is admitted, also among others`() throws {
        let cookie = try cookie()
        #expect(access.admits(cookies: [cookie]))
        #expect(access.admits(cookies: ["other=1; \(cookie); more=2"]))
        #expect(access.admits(cookies: ["other=1", cookie]))
    }

    @Test func `any other cookie is not`() throws {
        let cookie = try cookie()
        let value = cookie.split(separator: "=")[1]
        for wrong in ["", "appcontainer-8123=", "appcontainer-8124=\(value)", "\(cookie)0", String(cookie.dropLast())] {
            #expect(!access.admits(cookies: [wrong]), "\(wrong)")
        }
        #expect(!access.admits(cookies: []))
    }

    @Test func `another server's cookie is none here`() throws {
        let other = PageAccess(address)
        #expect(!other.admits(cookies: [try cookie()]))
    }

    @Test func `the secret is another one than the cookie, and is there once`() throws {
        let value = String(try cookie().split(separator: "=")[1])
        #expect(access.secret.count == 64 && access.secret != value)
        #expect(access.admits(secrets: [access.secret]))
        let wrong = [[], [""], [value], [access.secret + "0"], [access.secret.uppercased() + " "]]
        for wrong in wrong + [[access.secret, access.secret], [PageAccess(address).secret]] {
            #expect(!access.admits(secrets: wrong), "\(wrong)")
        }
    }

    @Test func `of links that nobody opens the oldest are dropped, one for each that is too many`() {
        let links = (0..<PageAccess.mostUnused + 2).map { _ in access.makeToken() }
        #expect(links.map { access.exchange($0) != nil } == links.indices.map { $0 >= 2 })
    }
}
