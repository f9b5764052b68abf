// Escapes text so that it stays on one line.

extension String {
    /// The text with line ends and control characters escaped: a file's name may hold any character but a slash.
    var onOneLine: String {
        var line = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": line.append(contentsOf: #"\n"#.unicodeScalars)
            case "\r": line.append(contentsOf: #"\r"#.unicodeScalars)
            case "\t": line.append(contentsOf: #"\t"#.unicodeScalars)
            default:
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator:
                    line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
                default: line.append(scalar)
                }
            }
        }
        return String(line)
    }
}
