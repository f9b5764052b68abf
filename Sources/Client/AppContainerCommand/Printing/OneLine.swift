// Text that stays on the line it is printed on.

extension String {
    /// The text with what would end the line or steer a terminal written as an escape: a file's name may hold
    /// anything but a slash.
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
