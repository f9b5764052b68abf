// A diary: its entries are somebody's own and belong in a backup, its index can be made anew and does not.

public import Foundation

public struct Journal: Sendable {
    private let entries: URL
    private let index: URL

    /// - Parameters:
    ///   - documents: the app's `Documents`.
    ///   - applicationSupport: its `Library/Application Support`, which the system leaves to the app to make.
    public init(documents: URL, applicationSupport: URL) throws {
        entries = documents.appending(path: "Entries", directoryHint: .isDirectory)
        index = applicationSupport.appending(path: "Index", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: entries, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: index.path) { try makeIndex() }
    }

    public func write(_ text: String, on day: String) throws {
        try text.write(to: entries.appending(path: "\(day).txt"), atomically: true, encoding: .utf8)
        try enter(day, text)
    }

    public func text(on day: String) throws -> String {
        try String(contentsOf: entries.appending(path: "\(day).txt"), encoding: .utf8)
    }

    /// The days on which a word was used.
    public func days(with word: String) throws -> [String] {
        let file = index.appending(path: word.lowercased())
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Reads all entries again, and keeps the index out of backups: the mark goes with the directory, so it is set
    /// whenever that is made.
    private func makeIndex() throws {
        try FileManager.default.createDirectory(at: index, withIntermediateDirectories: true)
        var marked = index
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try marked.setResourceValues(values)
        for name in try FileManager.default.contentsOfDirectory(atPath: entries.path).sorted() {
            let day = String(name.dropLast(".txt".count))
            try enter(day, try text(on: day))
        }
    }

    private func enter(_ day: String, _ text: String) throws {
        for word in Set(text.lowercased().split { !$0.isLetter }) {
            let days = Set(try days(with: String(word))).union([day]).sorted()
            let file = index.appending(path: String(word))
            try days.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        }
    }
}
