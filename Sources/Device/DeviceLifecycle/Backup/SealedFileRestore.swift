// A file that a backup has as ciphertext, being put back: its form is checked, and its proof before it counts.

import BackingStore
import BackupModel
import DataProtection
import Platform
import SandboxModel

/// The backing file in the making, and what is known of its origin so far. Used by one thread.
final class SealedFileRestore {
    private var writer: CiphertextWriter
    private var origin: SealedOrigin
    /// Bytes of ciphertext to come.
    private var left: Int64
    /// The end of the content in the backup.
    private var proof: [UInt8] = []
    private var position: Int64 = 0

    /// - Parameter file: new and empty, open for writing.
    init(_ entry: BackupEntry, length: Int64, _ file: SharedDescriptor, key: SealedFileKey) {
        left = max(length - SealedOrigin.length, 0)
        writer = CiphertextWriter(file, length: left, protection: entry.protection ?? .standard)
        origin = SealedOrigin(of: entry, key: key)
    }

    /// Takes the next bytes of the content.
    /// - Throws: `corrupt` for bytes that no encrypted file has there, or that do not follow the last; errors of the
    ///   host.
    func write(_ bytes: borrowing RawSpan, at offset: Int64) throws(Fault) {
        guard bytes.byteCount > 0 else { return }
        guard offset == position else { throw .corrupt }
        position += Int64(bytes.byteCount)
        let count = Int(min(Int64(bytes.byteCount), left))
        if count > 0 {
            let ciphertext = bytes.extracting(0..<count)
            origin.add(ciphertext)
            try writer.write(ciphertext)
            left -= Int64(count)
        }
        guard Int64(proof.count + bytes.byteCount - count) <= SealedOrigin.length else { throw .corrupt }
        let rest = PageBuffer(count: Int(SealedOrigin.length))
        rest.copy(bytes.extracting(count..<bytes.byteCount), to: 0)
        proof += rest.bytes(0, count: bytes.byteCount - count)
    }

    /// - Throws: `corrupt` where bytes are missing or the proof is not this device's; errors of the host.
    func end() throws(Fault) {
        guard left == 0, origin.proves(proof) else { throw .corrupt }
        try writer.finish()
    }
}
