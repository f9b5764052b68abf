// Paths in the control API as base64: JSON has text, and a path may have bytes that are none.

import FoundationEssentials
import SandboxModel

/// Reads and writes the bytes of a path in base64.
enum PathBytes {
    static func text(_ path: [UInt8]) -> String { Data(path).base64EncodedString() }

    /// - Returns: nil where text has all of the path.
    static func unlessText(_ path: [UInt8]) -> String? {
        String(validating: path, as: UTF8.self) == nil ? text(path) : nil
    }

    /// - Returns: nil for what is no path within a home.
    static func path(_ text: String) -> [FileName]? {
        Data(base64Encoded: text).flatMap { [FileName](joined: Array($0)) }
    }
}
