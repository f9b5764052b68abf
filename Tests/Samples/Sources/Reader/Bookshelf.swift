// The books that others have shared with the app. The system puts them into the Inbox; there the app may only take them
// out.

public import Foundation

public struct Bookshelf: Sendable {
    private let inbox: URL
    private let books: URL

    /// - Parameter documents: the app's `Documents`.
    public init(in documents: URL) throws {
        inbox = documents.appending(path: "Inbox", directoryHint: .isDirectory)
        books = documents.appending(path: "Books", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: books, withIntermediateDirectories: true)
    }

    /// Moves everything that was shared out of the Inbox.
    /// - Returns: where it is now. A book whose name is taken gets a number.
    @discardableResult
    public func takeIn() throws -> [URL] {
        // The Inbox is not there before something was shared.
        guard FileManager.default.fileExists(atPath: inbox.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: inbox, includingPropertiesForKeys: nil).map { shared in
            let book = free(shared)
            try FileManager.default.moveItem(at: shared, to: book)
            return book
        }
    }

    /// The names of the books.
    public func titles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: books.path).sorted()
    }

    /// Writes a remark at the end of a book.
    public func annotate(_ book: URL, _ remark: String) throws {
        let file = try FileHandle(forWritingTo: book)
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(remark.utf8))
    }

    /// A place for a book that no other has.
    private func free(_ shared: URL) -> URL {
        let name = shared.deletingPathExtension().lastPathComponent
        let suffix = shared.pathExtension.isEmpty ? "" : ".\(shared.pathExtension)"
        var place = books.appending(path: "\(name)\(suffix)")
        var number = 1
        while FileManager.default.fileExists(atPath: place.path) {
            number += 1
            place = books.appending(path: "\(name) \(number)\(suffix)")
        }
        return place
    }
}
