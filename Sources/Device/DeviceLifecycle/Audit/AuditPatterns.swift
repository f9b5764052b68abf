// The sort of a file by its name and its directories'. Of several patterns the last that matches decides; a user's come
// after the built-in ones.

import Platform
public import SandboxModel
import SandboxPolicy

/// Patterns of file names, each with the sort of the files that match it.
public struct AuditPatterns: Sendable {
    /// The pattern that decides on a file or directory.
    struct Match {
        let sort: StoredSort
        /// Whether it is one of the user's.
        let isUsers: Bool
        fileprivate let index: Int
    }

    /// In the order in which they were added. The last that matches decides.
    private var patterns: [(sort: StoredSort, isForDirectories: Bool, glob: Glob)] = []

    /// The number of built-in ones among them.
    private let builtIn: Int

    /// The built-in patterns.
    public init() {
        builtIn = AuditPatterns.usual.reduce(0) { $0 + $1.1.count }
        for (sort, globs) in AuditPatterns.usual { for glob in globs { add(glob, sort) } }
    }

    /// The built-in patterns and further ones. A line is a sort and a pattern of fnmatch(3) with a blank between them;
    /// a pattern that ends with a slash is for directories and all that is in them. Empty lines and lines that begin
    /// with `#` are comments.
    ///
    /// - Parameters:
    ///   - text: the further lines.
    ///   - file: the name of their file, for messages.
    /// - Throws: ``Complaint`` of kind `badRequest` for a line that is neither.
    public init(adding text: String, from file: String) throws(Complaint) {
        self.init()
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(maxSplits: 1, omittingEmptySubsequences: true) {
                $0 == " " || $0 == "\t" || $0 == "\r"
            }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2, let sort = StoredSort(rawValue: String(first)) else {
                let sorts = StoredSort.allCases.map(\.rawValue).joined(separator: ", ")
                throw Complaint(
                    .badRequest,
                    "line \(index + 1) of \(file) is not a sort (\(sorts)) and a pattern, such as: document *.cad")
            }
            add(String(words[1]).trimmingTrailingBlanks, sort)
        }
    }

    private mutating func add(_ pattern: String, _ sort: StoredSort) {
        let isForDirectories = pattern.hasSuffix("/")
        patterns.append((sort, isForDirectories, Glob(isForDirectories ? String(pattern.dropLast()) : pattern)))
    }

    /// The pattern that decides on a file or directory; nil where none matches. A pattern for a directory matches all
    /// that is in it as well.
    /// - Parameters:
    ///   - path: from the container.
    ///   - cover: the match of the directory that it lies in.
    func match(_ path: [FileName], isDirectory: Bool, in cover: Match?) -> Match? {
        guard let name = path.last?.text else { return cover }
        let text = path.text
        let last = patterns.lastIndex { $0.isForDirectories == isDirectory && $0.glob.matches(text, name: name) }
        guard let last, last > cover?.index ?? -1 else { return cover }
        return Match(sort: patterns[last].sort, isUsers: last >= builtIn, index: last)
    }

    /// The built-in patterns, in an order in which the last that matches decides.
    private static let usual: [(StoredSort, [String])] = [
        (
            .document,
            [
                "*.pdf", "*.txt", "*.md", "*.rtf", "*.rtfd", "*.doc", "*.docx", "*.xls", "*.xlsx", "*.ppt", "*.pptx",
                "*.odt",
                "*.ods", "*.odp", "*.pages", "*.numbers", "*.key", "*.csv", "*.epub", "*.vcf", "*.ics", "*.eml",
            ]
        ),
        (
            .media,
            [
                "*.heic", "*.jpg", "*.jpeg", "*.png", "*.gif", "*.tiff", "*.dng", "*.mov", "*.mp4", "*.m4v", "*.m4a",
                "*.mp3", "*.wav", "*.aiff",
            ]
        ),
        (.database, ["*.sqlite", "*.sqlite3", "*.db", "*.sqlitedb", "*.realm", "*.store", "*.sqlite-wal", "*.db-wal"]),
        (
            .recreatable,
            [
                // Downloads, finished or not.
                "*.download", "*.download/", "*.part", "*.partial", "*.crdownload", "CFNetworkDownload_*.tmp",
                "Downloads/",
                "DownloadedMedia/",
                // Caches, by the names that the system and widespread libraries give them.
                "Cache/", "Caches/", "*.cache", "*.cache/", "*Cache/", "*Caches/", "Cache.db", "Cache.db-*",
                "fsCachedData/",
                "*[Tt]humbnails/", "*.thumb", "*.ktx", "WebKitCache/", "MediaCache/", "ImageCache/",
                // Parts of databases that only an open one needs. A journal and a write-ahead log hold transactions.
                "*.sqlite-shm", "*.sqlite3-shm", "*.db-shm", "etilqs_*", "*.realm.lock", "*.realm.note",
                "*.realm.management/",
                // Leftovers of tools and editors.
                "*.tmp", "*.temp", "*~", ".DS_Store", "*.swp",
            ]
        ),
    ]
}

extension String {
    fileprivate var trimmingTrailingBlanks: String {
        var text = self
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
