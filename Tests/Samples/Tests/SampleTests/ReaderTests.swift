// Files shared with an app lie in its Inbox. The app may only read them and take them out.

import AppContainerTesting
import Foundation
import Reader
import Testing

@Suite(.appContainer(app: "Apps/Reader.app"))
struct ReaderTests {
    private let phone = AppContainer.current
    private let shelf: Bookshelf

    init() throws {
        shelf = try Bookshelf(in: phone.url("Documents"))
    }

    @Test func `a book that was shared is moved to the others, where it can be written in`() async throws {
        try await phone.deliver("Apps/Reader.app/Welcome.txt")
        let book = try #require(try shelf.takeIn().first)
        #expect(try shelf.titles() == ["Welcome.txt"])
        try shelf.annotate(book, "Read in May.")
        #expect(try String(contentsOf: book, encoding: .utf8) == "Share a book with this app.\nRead in May.")
        #expect(try shelf.takeIn().isEmpty)
    }

    @Test func `in the Inbox it can be read, but not written in`() async throws {
        let shared = URL(filePath: try await phone.deliver("Apps/Reader.app/Welcome.txt")[0])
        expectReadable(shared.path)
        try await expectRefused(.rule("inbox")) { try shelf.annotate(shared, "Read in May.") }
        try await expectRefused(.rule("inbox")) { try Data().write(to: shared, options: .atomic) }
        try await expectRefused(.rule("inbox")) {
            let other = shared.deletingLastPathComponent().appending(path: "Other.txt")
            try FileManager.default.moveItem(at: shared, to: other)
        }
        try FileManager.default.removeItem(at: shared)
        try await expectRefused(.sandbox) {
            try FileManager.default.removeItem(at: shared.deletingLastPathComponent())
        }
    }

    @Test func `of two books with one name both are kept`() async throws {
        for _ in 1...3 {
            try await phone.deliver("Apps/Reader.app/Welcome.txt")
            try shelf.takeIn()
        }
        #expect(try shelf.titles() == ["Welcome 2.txt", "Welcome 3.txt", "Welcome.txt"])
    }

    @Test func `nothing is taken in before something was shared`() throws {
        #expect(try shelf.takeIn().isEmpty)
    }
}
