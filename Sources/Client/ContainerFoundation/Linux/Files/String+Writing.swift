// Writing text; atomic writes keep the mode of the replaced file.

public import Foundation
import Platform
import SandboxModel

extension StringProtocol {
    /// Writes the text to a file.
    ///
    /// On a mount an atomic write keeps the mode of the file that it replaces, as on Apple's systems.
    /// - Throws: a `CocoaError`: `fileWriteInapplicableStringEncoding` if the encoding lacks a character. An existing
    ///   file is unchanged.
    public func write(to url: URL, atomically: Bool, encoding: String.Encoding) throws {
        guard atomically, url.isFileURL, let item = MountedItem(url.path) else {
            return try self.FoundationEssentials::write(to: url, atomically: atomically, encoding: encoding)
        }
        guard let data = data(using: encoding) else {
            throw CocoaError(
                .fileWriteInapplicableStringEncoding,
                userInfo: [
                    NSFilePathErrorKey: item.path, NSURLErrorKey: url, NSStringEncodingErrorKey: encoding.rawValue,
                ])
        }
        try onItem(item.path) { () throws(SystemError) in try data.replaceFile(at: item.path, encoding: encoding) }
    }

    /// Writes the text to a file: ``write(to:atomically:encoding:)``.
    public func write(toFile path: some StringProtocol, atomically: Bool, encoding: String.Encoding) throws {
        try write(to: URL(fileURLWithPath: String(path)), atomically: atomically, encoding: encoding)
    }
}

extension String.Encoding {
    /// The attribute that Foundation sets on text files, and `String(contentsOf:usedEncoding:)` reads.
    static let attributeName = Array("com.apple.TextEncoding".utf8)

    /// IANA's name and CoreFoundation's number of the encoding; nil for encodings that Foundation on Linux does not
    /// record either.
    var attributeValue: [UInt8]? {
        let value: String? =
            switch self {
            case .ascii: "us-ascii;1536"
            case .utf8: "utf-8;134217984"
            case .utf16: "utf-16;256"
            case .utf16BigEndian: "utf-16be;268435712"
            case .utf16LittleEndian: "utf-16le;335544576"
            case .utf32: "utf-32;201326848"
            case .utf32BigEndian: "utf-32be;402653440"
            case .utf32LittleEndian: "utf-32le;469762304"
            case .isoLatin1: "iso-8859-1;513"
            case .macOSRoman: "macintosh;0"
            default: nil
            }
        return value.map { Array($0.utf8) }
    }
}
