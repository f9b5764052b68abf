// Untrusted text and names, made safe to print in messages.

extension String {
    /// The text on one line, with `?` for control characters, which could steer a terminal.
    public var shown: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}

extension Collection<UInt8> {
    /// A name or path as text on one line, with U+FFFD for invalid UTF-8, and cut to 200 characters.
    public var shown: String {
        let scalars = String(decoding: prefix(400), as: UTF8.self).unicodeScalars
        let text = String(scalars.prefix(200)).shown
        return count > 400 || scalars.count > 200 ? text + "…" : text
    }
}
