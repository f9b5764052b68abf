// One file being written from a backup: encrypted anew, or put back as ciphertext.

import BackingStore
import BackupModel
import DataProtection
import Glibc
import Platform
import SandboxModel

/// A file in the making, which gets its content piece by piece, in ascending order.
struct FileRestore {
    let entry: BackupEntry
    let name: FileName
    let parent: SharedDescriptor
    private let content: Content
    private let length: Int64

    private enum Content {
        /// With a key of its own, made now.
        case encrypted(EncryptedFile)
        /// The backing file as it was on this device.
        case sealed(SealedFileRestore)
        /// The backing file of another device, which is encrypted anew once it is whole.
        case foreign(SealedFileRestore, SealedFileReencryption, SharedDescriptor)
    }

    /// Makes an empty file.
    /// - Parameter keys: of sealed content.
    /// - Throws: `exists` where the name is taken.
    init(
        _ entry: BackupEntry, _ content: BackupEntry.Content, _ name: FileName, in parent: SharedDescriptor,
        context: StoreContext, keys: SealedFileKeys?
    ) throws(Fault) {
        self.entry = entry
        self.name = name
        self.parent = parent
        length = content.length
        let backing = try onHost { () throws(SystemError) in
            SharedDescriptor(
                try parent.descriptor.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        }
        switch content {
        case .plain:
            let protection = entry.protection ?? .standard
            self.content = .encrypted(
                try EncryptedFile.create(backing, protection: protection, context: context).file)
        case .sealed(let length, _):
            // The restore has found the keys of every sealed entry.
            guard let keys else { throw .corrupt }
            let file = SealedFileRestore(entry, length: length, backing, key: keys.proofs)
            guard let source = keys.context else {
                self.content = .sealed(file)
                return
            }
            let reencryption = SealedFileReencryption(
                name: name, parent: parent, protection: entry.protection ?? .standard, source: source, target: context)
            self.content = .foreign(file, reencryption, backing)
        }
    }

    /// - Parameters:
    ///   - bytes: plain content, or that of the backing file and its proof, as the entry says.
    ///   - doing: what failed, as the beginning of a message.
    /// - Throws: ``Complaint`` of kind `invalidBackup` for ciphertext that is none, `noSpace`, or with the host's
    ///   error.
    func write(_ bytes: borrowing RawSpan, at offset: Int64, doing: String) throws(Complaint) {
        switch content {
        case .encrypted(let file):
            var done = 0
            while done < bytes.byteCount {
                // No more than one write takes, and cut where the blocks are, so that none is sealed twice.
                let position = offset + Int64(done)
                let limit = Int64(Workspace.largestTransfer)
                let count = min(bytes.byteCount - done, Int(limit - position % limit))
                do throws(Fault) {
                    try file.write(bytes.extracting(done..<done + count), at: position)
                } catch {
                    throw Complaint(error, doing: doing)
                }
                done += count
            }
        case .sealed(let file), .foreign(let file, _, _):
            do throws(Fault) {
                try file.write(bytes, at: offset)
            } catch {
                throw error == .corrupt ? unproven : Complaint(error, doing: doing)
            }
        }
    }

    /// Gives the content its length, and closes it. Attributes, owner, mode and times are the container's work.
    /// - Parameter goOn: called from time to time; false cancels.
    /// - Throws: ``Complaint`` of kind `invalidBackup` for ciphertext without a proof of its device;
    ///   ``Complaint/cancelled``.
    func end(_ goOn: () -> Bool) throws(Complaint) {
        let isWhole: Bool
        do throws(Fault) {
            isWhole = try endContent(goOn)
        } catch {
            if error == .corrupt, isSealed { throw unproven }
            throw Complaint(error, doing: "cannot restore \(entry.path.text)")
        }
        guard isWhole else { throw Complaint.cancelled }
    }

    private var isSealed: Bool { if case .encrypted = content { false } else { true } }

    private var unproven: Complaint {
        let name = "\(entry.domain.name)/\(entry.path.text)"
        if case .foreign = content {
            return Complaint(
                .invalidBackup,
                "\(name) is in the backup as ciphertext, without the proof that the backup's device has written it, or "
                    + "damaged there already: use another backup of that device; nothing was restored")
        }
        return Complaint(
            .invalidBackup,
            "\(name) is in the backup as ciphertext, without the proof that this device has "
                + "written it: it was changed, or an older version made the backup; nothing was restored")
    }

    /// - Returns: false when `goOn` ended it.
    private func endContent(_ goOn: () -> Bool) throws(Fault) -> Bool {
        switch content {
        case .encrypted(let file):
            if file.length < length { try file.truncate(to: length) }
            try file.commit()
        case .sealed(let file):
            try file.end()
        case .foreign(let file, let reencryption, let backing):
            try file.end()
            return try reencryption.run(backing, goOn)
        }
        return true
    }
}
