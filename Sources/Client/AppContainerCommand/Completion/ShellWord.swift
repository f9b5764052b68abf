// Words as a shell has them on its line: with quotes and backslashes, and a tilde for the home directory.

/// Takes a word of a line apart, and writes a value as a word.
enum ShellWord {
    /// The value of a word of which the end may be missing, such as the closing quote. Quotes and backslashes go, as in
    /// sh(1); a tilde before the first slash becomes the home directory. Nothing else is expanded.
    static func value(of word: String, home: String?) -> String {
        var value = ""
        var quote: Character?
        var rest = Substring(word)
        if let home, word == "~" || word.hasPrefix("~/") {
            value = home
            rest.removeFirst()
        }
        while let character = rest.popFirst() {
            switch (character, quote) {
            case ("\\", nil):
                if let next = rest.popFirst() { value.append(next) }
            case ("\\", "\""?):
                guard let next = rest.popFirst() else { break }
                if !#""\$`"#.contains(next) { value.append("\\") }
                value.append(next)
            case ("'", nil), ("\"", nil): quote = character
            case (_, let open?) where open == character: quote = nil
            default: value.append(character)
            }
        }
        return value
    }

    /// A value with a backslash before each character that a shell might read otherwise.
    static func escaped(_ value: String) -> String {
        var word = ""
        for character in value {
            if !(character.isASCII && (character.isLetter || character.isNumber) || "_./-+,@%".contains(character)) {
                word.append("\\")
            }
            word.append(character)
        }
        return word
    }
}
