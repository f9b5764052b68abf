// Escapes text so that it stays on one line.

extension String {
    /// The text with line ends, control characters and marks that turn the direction of writing escaped: a file's name
    /// may hold any character but a slash.
    var onOneLine: String {
        var line = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": line.append(contentsOf: #"\n"#.unicodeScalars)
            case "\r": line.append(contentsOf: #"\r"#.unicodeScalars)
            case "\t": line.append(contentsOf: #"\t"#.unicodeScalars)
            default:
                if scalar.isForTerminals {
                    line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
                } else {
                    line.append(scalar)
                }
            }
        }
        return String(line)
    }

    /// JSON with the same characters escaped as JSON does, where it need not: they occur in its strings alone.
    var jsonForTerminals: String {
        guard utf8.contains(where: { $0 >= 0x7F || $0 < 0x20 && $0 != 0x0A }) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isForTerminals, scalar != "\n" {
                let digits = String(scalar.value, radix: 16)
                text.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal obeys the character instead of showing it.
    fileprivate var isForTerminals: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
