// The pictures that somebody likes best: paths that the app has stored, and that have to be right after an update too.

public import Foundation

/// Pictures below `Documents`, in a list that is kept as JSON.
///
/// An update moves the app's home: a whole path that was stored names nothing any more. So the list has paths relative
/// to `Documents`. Version 1 of the app stored whole ones; what follows `Documents` in them still holds.
public struct Favourites: Sendable {
    private let documents: URL
    private let list: URL

    /// - Parameters:
    ///   - documents: the app's `Documents`, where it is today.
    ///   - library: the app's `Library`.
    public init(documents: URL, library: URL) {
        self.documents = documents
        list = library.appending(path: "Favourites.json")
    }

    /// The pictures, in the order in which they were added.
    public func pictures() throws -> [URL] {
        try paths().map { documents.appending(path: $0) }
    }

    public func add(_ picture: URL) throws {
        let paths = try paths() + [relative(picture.path)]
        try JSONEncoder().encode(paths).write(to: list, options: .atomic)
    }

    private func paths() throws -> [String] {
        guard FileManager.default.fileExists(atPath: list.path) else { return [] }
        return try JSONDecoder().decode([String].self, from: Data(contentsOf: list)).map(relative)
    }

    private func relative(_ path: String) -> String {
        guard path.hasPrefix("/"), let documents = path.firstRange(of: "/Documents/") else { return path }
        return String(path[documents.upperBound...])
    }
}
