// The authentication code of a record, which is kept in the record itself.

import DataProtection
import Platform
import SandboxModel

/// Adds authentication codes to the records of one device, and checks them.
///
/// A code is over exact bytes: all of the file but the code and the fixed bytes around it. In a JSON record it is the
/// first field, so that every tool for JSON can read the record. In any other text it is the first line.
struct RecordAuthentication: Sendable {
    private let keys: RecordKeys
    /// Whether a record without a code is refused. It is not where an authentic keybag says that the device's records
    /// have none yet.
    let isRequired: Bool

    init(_ uidKey: UIDKey, device: String, isRequired: Bool) {
        keys = RecordKeys(uidKey, device: device)
        self.isRequired = isRequired
    }

    /// The bytes around a code.
    private struct Frame {
        /// The begin of the content, which stands before the code and is covered by it.
        let begin: [UInt8]
        let opening: [UInt8]
        let closing: [UInt8]

        static let json = Frame(
            begin: Array("{\n".utf8), opening: Array("  \"authentication\" : \"".utf8), closing: Array("\",\n".utf8))
        static let text = Frame(begin: [], opening: Array("authentication: ".utf8), closing: Array("\n".utf8))

        init(begin: [UInt8], opening: [UInt8], closing: [UInt8]) {
            self.begin = begin
            self.opening = opening
            self.closing = closing
        }

        init(_ name: FileName) {
            self = name.text.hasSuffix(".json") ? Frame.json : Frame.text
        }

        static let codeLength = 2 * RecordKeys.codeLength

        /// The code and the content, if the bytes have a code.
        func split(_ bytes: [UInt8]) -> (code: [UInt8], content: [UInt8])? {
            let start = begin + opening
            let end = start.count + Frame.codeLength
            guard bytes.count >= end + closing.count, bytes.starts(with: start),
                bytes[end...].starts(with: closing),
                let code = [UInt8](hexadecimal: bytes[start.count..<end])
            else { return nil }
            return (code, begin + bytes[(end + closing.count)...])
        }
    }

    /// A record as it is stored.
    /// - Parameter content: of a JSON record, as ``DeviceRecords`` encodes it.
    func sealed(_ content: [UInt8], _ name: FileName) -> [UInt8] {
        let frame = Frame(name)
        precondition(content.starts(with: frame.begin), "a record of another form")
        let code = Array(keys.authenticationCode(over: content, of: name.text).hexadecimal.utf8)
        return frame.begin + frame.opening + code + frame.closing + content.dropFirst(frame.begin.count)
    }

    /// The content of a stored record.
    /// - Returns: nil if the record is not to be believed.
    func content(of bytes: [UInt8], _ name: FileName) -> [UInt8]? {
        guard let (code, content) = Frame(name).split(bytes) else { return isRequired ? nil : bytes }
        return keys.isAuthentic(code, over: content, of: name.text) ? content : nil
    }
}
