// The covers that the app has downloaded. They lie where the system may remove them, and do at any time.

public import Foundation

public struct CoverCache: Sendable {
    private let directory: URL
    private let download: @Sendable (_ issue: Int) async throws -> Data

    /// - Parameters:
    ///   - caches: the app's `Library/Caches`.
    ///   - download: gets a cover from the server.
    public init(in caches: URL, download: @escaping @Sendable (_ issue: Int) async throws -> Data) {
        directory = caches.appending(path: "Covers", directoryHint: .isDirectory)
        self.download = download
    }

    /// A cover, from the cache or from the server. That it cannot be kept is no reason not to show it.
    public func cover(ofIssue issue: Int) async throws -> Data {
        let file = file(ofIssue: issue)
        if let kept = try? Data(contentsOf: file) { return kept }
        let cover = try await download(issue)
        try? keep(cover, in: file)
        return cover
    }

    public func file(ofIssue issue: Int) -> URL {
        directory.appending(path: "\(issue).cover")
    }

    /// A purge takes the directory along, so it is made as often as it is needed. The file appears whole or not at all.
    private func keep(_ cover: Data, in file: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try cover.write(to: file, options: .atomic)
    }
}
