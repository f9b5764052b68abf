// What others have named, as text for people.

extension String {
    /// The text on one line, with nothing in it that steers a terminal.
    public var shown: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}

extension Collection<UInt8> {
    /// A name or a path that anybody may have written: on one line, and not too long.
    public var shown: String {
        let scalars = String(decoding: prefix(400), as: UTF8.self).unicodeScalars
        let text = String(scalars.prefix(200)).shown
        return count > 400 || scalars.count > 200 ? text + "…" : text
    }
}
