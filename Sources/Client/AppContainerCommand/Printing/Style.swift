// The looks of text on a terminal: weight and colour, and when there are none.

import Glibc
import Platform

/// The look of a piece of text. Only a terminal gets it: a file, a pipe and JSON are plain, as is a terminal that calls
/// itself dumb, and everything where NO_COLOR says so (no-color.org).
struct Style: Hashable {
    /// Of ECMA-48, SGR.
    private let parameters: String

    static let heading = Style(parameters: "1")
    static let error = Style(parameters: "1;31")
    static let warning = Style(parameters: "1;33")
    static let good = Style(parameters: "32")
    static let waiting = Style(parameters: "33")
    static let refused = Style(parameters: "31")
    static let faint = Style(parameters: "2")

    private init(parameters: String) {
        self.parameters = parameters
    }

    /// The look of a device's state: what can be read, what cannot, and what needs somebody to look at it.
    init(ofState state: String) {
        switch state {
        case "unlocked": self = .good
        case "off": self = .faint
        case "locked", "locking", "beforeFirstUnlock": self = .waiting
        default: self = .refused
        }
    }

    /// A stream that may be a terminal.
    enum Stream {
        case output, error

        /// Whether text there has a look. Asked once: neither the streams nor the environment change.
        var isStyled: Bool { self == .output ? Style.isOutputStyled : Style.isErrorStyled }
    }

    /// The text with its look, if the stream has any.
    func callAsFunction(_ text: String, on stream: Stream = .output) -> String {
        stream.isStyled && !text.isEmpty ? "\u{1B}[\(parameters)m\(text)\u{1B}[0m" : text
    }

    private static let isOutputStyled = isStyled(STDOUT_FILENO)
    private static let isErrorStyled = isStyled(STDERR_FILENO)

    private static func isStyled(_ descriptor: Int32) -> Bool {
        Terminal.isTerminal(descriptor)
            && allowsStyle(
                noColor: ProcessSettings.variable("NO_COLOR"), terminal: ProcessSettings.variable("TERM"))
    }

    /// Whether the environment allows a look.
    /// - Parameters:
    ///   - noColor: the value of `NO_COLOR`; an empty one says nothing.
    ///   - terminal: the value of `TERM`.
    static func allowsStyle(noColor: String?, terminal: String?) -> Bool {
        (noColor ?? "").isEmpty && isCapable(terminal)
    }

    /// Whether a terminal of this name obeys escape sequences.
    static func isCapable(_ terminal: String?) -> Bool {
        !["", "dumb"].contains(terminal ?? "")
    }
}
