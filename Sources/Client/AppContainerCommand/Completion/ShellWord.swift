// Words as a shell has them on its line: with quotes and backslashes, and a tilde for the home directory.
//
// They are read by scalars: to Swift a backquote after certain letters is no character of its own, and a shell obeys it
// there too.

/// Takes a word of a line apart, and writes a value as a word.
enum ShellWord {
    /// The value of a word of which the end may be missing, such as the closing quote. Quotes and backslashes go, as in
    /// sh(1); a tilde before the first slash becomes the home directory. Nothing else is expanded.
    static func value(of word: String, home: String?) -> String {
        var value = String.UnicodeScalarView()
        var quote: Unicode.Scalar?
        var rest = Substring(word).unicodeScalars
        if let home, rest.first == "~", rest.count == 1 || rest.dropFirst().first == "/" {
            value.append(contentsOf: home.unicodeScalars)
            rest.removeFirst()
        }
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("\\", nil):
                if let next = rest.popFirst() { value.append(next) }
            case ("\\", "\""?):
                guard let next = rest.popFirst() else { break }
                if !#""\$`"#.unicodeScalars.contains(next) { value.append("\\") }
                value.append(next)
            case ("'", nil), ("\"", nil): quote = scalar
            case (_, let open?) where open == scalar: quote = nil
            default: value.append(scalar)
            }
        }
        return String(value)
    }

    private static let plain = "0123456789_./-+,@%".unicodeScalars

    /// A value with a backslash before each character that a shell might read otherwise.
    static func escaped(_ value: String) -> String {
        var word = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if !(plain.contains(scalar) || scalar.isASCII && scalar.properties.isAlphabetic) { word.append("\\") }
            word.append(scalar)
        }
        return String(word)
    }
}
