// The proof that ciphertext in a backup is a file of this device, as the device wrote it there.

import BackingStore
import BackupModel
import DataProtection
import HashFunctions
import Platform
import SandboxModel

/// The proof of one sealed file, computed while its ciphertext passes: an authentication code over the entry and the
/// ciphertext. It follows the ciphertext in the backup.
struct SealedOrigin: ~Copyable {
    /// Bytes of a proof.
    static let length = Int64(SealedFileKey.codeLength)

    private let key: SealedFileKey
    private let entry: [UInt8]
    private var digest = MessageDigest(.sha256)

    /// - Parameter entry: of kind `file`, with sealed content.
    init(of entry: BackupEntry, key: SealedFileKey) {
        self.key = key
        self.entry = SealedOrigin.encoded(entry)
    }

    /// Takes the next bytes of the ciphertext.
    mutating func add(_ bytes: borrowing RawSpan) { digest.update(bytes) }

    /// The proof of all bytes so far, which are the whole ciphertext.
    mutating func proof() -> [UInt8] { key.authenticationCode(over: entry + digest.finish()) }

    /// Whether a proof is that of all bytes so far.
    mutating func proves(_ proof: [UInt8]) -> Bool { key.authenticates(proof, over: entry + digest.finish()) }

    /// Where the file belongs, its class, its mode and owner, and how long it is. Times and attributes are left out: an
    /// archive may round or add to them.
    private static func encoded(_ entry: BackupEntry) -> [UInt8] {
        var length: Int64 = 0
        if case .file(let content) = entry.kind { length = content.length }
        var bytes: [UInt8] = []
        func append(_ value: UInt64) { withLittleEndian(value) { bytes.append($0) } }
        append(UInt64(bitPattern: length))
        append(UInt64(entry.protection?.rawValue ?? 0))
        append(UInt64(entry.permissions))
        append(UInt64(entry.owner))
        append(UInt64(entry.group))
        // With their lengths, so that no byte can move from one to the other.
        for text in [Array(entry.domain.name.utf8)] + entry.path.map({ Array($0.bytes) }) {
            append(UInt64(text.count))
            bytes += text
        }
        return bytes
    }

    private static func withLittleEndian(_ value: UInt64, _ body: (UInt8) -> Void) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { body(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}

extension BootedDevice {
    /// The key of proofs by this device.
    /// - Throws: ``Complaint`` of kind `damaged` where the device's own key is missing.
    func sealedFileKey() throws(Complaint) -> SealedFileKey {
        SealedFileKey(try directory.uidKey(), keybag: passcode.keybagIdentifier)
    }
}
