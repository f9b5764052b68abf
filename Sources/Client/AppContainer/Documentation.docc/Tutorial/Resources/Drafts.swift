import ContainerFoundation

public struct Drafts {
    private let file = URL.documentsDirectory.appending(path: "draft.txt")

    public init() {}

    public func save(_ text: String) throws {
        try Data(text.utf8).write(to: file, options: [.atomic, .completeFileProtection])
    }

    public func load() throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// A picture of the draft, which is made once.
    public func thumbnail() throws -> Data {
        let cache = URL.cachesDirectory.appending(path: "thumbnail")
        if let made = try? Data(contentsOf: cache) { return made }
        let picture = Data(try load().utf8.prefix(8))
        try picture.write(to: cache)
        return picture
    }
}
