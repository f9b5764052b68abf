// The content of one file on its way into a backup: what the app sees, or the backing file where its class is closed.

import BackingStore
import BackupModel
import Glibc
import Platform
import SandboxModel

/// A file of a container, open for a backup.
struct BackupFile {
    let content: BackupEntry.Content
    let protection: ProtectionClass
    /// The time of the last write, where the host does not know it yet.
    let modificationTime: timespec?
    private let place: ContainerPlace
    private let reader: BackupReader
    /// nil where the class is closed.
    private let file: EncryptedFile?
    private let backing: SharedDescriptor?

    /// - Returns: nil where it went while the walk was on its way.
    /// - Throws: ``Complaint`` of kind `damaged` where the header does not authenticate.
    init?(_ place: ContainerPlace, _ reader: BackupReader) throws(Complaint) {
        self.place = place
        self.reader = reader
        do throws(Fault) {
            file = try reader.openReadable(place)
            if let file {
                backing = nil
                content = .plain(length: file.length, data: try BackupFile.dataRanges(of: file))
                protection = file.protection
                modificationTime = file.modificationTime
            } else {
                let backing = try reader.openBacking(place)
                let length = try onHost { () throws(SystemError) in try backing.descriptor.status().size }
                guard let named = EncryptedFile.protection(of: backing.descriptor) else { throw Fault.corrupt }
                self.backing = backing
                content = .sealed(length: length, keybag: reader.keybag)
                protection = named
                modificationTime = reader.openFile(place.status.inode)?.modificationTime
            }
        } catch {
            if error == .system(.noEntry) { return nil }
            throw reader.complaint(error, about: place)
        }
    }

    private static func dataRanges(of file: EncryptedFile) throws(Fault) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        let length = file.length
        var position: Int64 = 0
        while position < length, let start = try file.seek(from: position, toHole: false), start < length {
            let end = min(try file.seek(from: start, toHole: true) ?? length, length)
            guard end > start else { break }
            ranges.append(start..<end)
            position = end
        }
        return ranges
    }

    /// How much of a hole is passed over at once: counting terabytes of zeros takes hours.
    private static let longestSilence: Int64 = 64 << 20

    /// Hands over the content piece by piece: of a plain file what lies in its data ranges, and in long holes nothing from
    /// time to time.
    /// - Parameter body: answers whether to go on.
    /// - Returns: false when the body ended it.
    func read(
        _ body: (_ bytes: RawSpan, _ offset: Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        let buffer = reader.buffer
        defer { if protection == .complete { buffer.wipe(0, count: buffer.count) } }
        switch content {
        case .plain(let length, let ranges):
            var file = file!
            var end: Int64 = 0
            for range in ranges {
                guard try pass(end..<range.lowerBound, body) else { return false }
                end = range.upperBound
                var position = range.lowerBound
                while position < range.upperBound {
                    let count = Int(min(range.upperBound - position, Int64(buffer.count)))
                    try fill(buffer, count, from: position, of: &file)
                    guard try deliver(buffer, count, position, body) else { return false }
                    position += Int64(count)
                }
            }
            return try pass(end..<length, body)
        case .sealed(let length, _):
            var position: Int64 = 0
            while position < length {
                let count = Int(min(length - position, Int64(buffer.count)))
                let got = try Complaint.wrap(reader.doing(place)) { () throws(SystemError) in
                    try backing!.descriptor.read(into: buffer, count: count, from: position)
                }
                buffer.zero(got, count: count - got)
                guard try deliver(buffer, count, position, body) else { return false }
                position += Int64(count)
            }
        }
        return true
    }

    private func pass(
        _ hole: Range<Int64>, _ body: (RawSpan, Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        var position = hole.lowerBound
        while hole.upperBound - position > BackupFile.longestSilence {
            position += BackupFile.longestSilence
            guard try body(RawSpan(), position) else { return false }
        }
        return true
    }

    private func deliver(
        _ buffer: PageBuffer, _ count: Int, _ position: Int64,
        _ body: (RawSpan, Int64) throws(Complaint) -> Bool
    ) throws(Complaint) -> Bool {
        try buffer.withBytes(0, count: count) { (bytes) throws(Complaint) in try body(bytes, position) }
    }

    /// Somebody may open the file for writing meanwhile: what fails to authenticate then is read again, through what
    /// the writer has open.
    private func fill(
        _ buffer: PageBuffer, _ count: Int, from position: Int64, of file: inout EncryptedFile
    ) throws(Complaint) {
        var attempt = 1
        while true {
            do throws(Fault) {
                var filled = 0
                try file.read(count: count, from: position) { result in
                    for index in 0..<result.segmentCount {
                        let segment = result.segment(index)
                        buffer.copy(from: segment.buffer, at: segment.offset, count: segment.count, to: filled)
                        filled += segment.count
                    }
                }
                // It has become shorter than it was.
                buffer.zero(filled, count: count - filled)
                return
            } catch {
                guard error == .corrupt, attempt < BackupFile.attempts, let again = try? reader.open(place) else {
                    throw reader.complaint(error, about: place)
                }
                file = again
                attempt += 1
            }
        }
    }

    private static let attempts = 5
}

/// What reading the files of one backup has in common.
final class BackupReader {
    let context: StoreContext
    /// The identifier of the device's keybag.
    let keybag: [UInt8]
    /// The file that a volume has open for an inode of the host, if it has.
    let openFile: (UInt64) -> EncryptedFile?
    let buffer = PageBuffer(count: Workspace.largestTransfer)
    private let isPrivileged = geteuid() == 0

    init(_ context: StoreContext, keybag: [UInt8], openFile: @escaping (UInt64) -> EncryptedFile?) {
        // What does not authenticate is told to whoever asked for the backup.
        self.context = context.isDisturbed ? context : StoreContext(sharing: context, report: { _ in })
        self.keybag = keybag
        self.openFile = openFile
    }

    func open(_ place: ContainerPlace) throws(Fault) -> EncryptedFile {
        // What a process had open before a restart is read by nobody any more.
        if let live = openFile(place.status.inode), !live.isRetired { return live }
        let backing = try openBacking(place)
        return try EncryptedFile.open(backing, isWritable: false, context: context)
    }

    /// - Returns: nil where the class is closed in the device's present state.
    func openReadable(_ place: ContainerPlace) throws(Fault) -> EncryptedFile? {
        do throws(Fault) {
            let file = try open(place)
            // What an app keeps open is as closed as all of its class while the device is locked.
            return file.isClosed ? nil : file
        } catch {
            if error == .refused(.dataProtection) { return nil }
            throw error
        }
    }

    func openBacking(_ place: ContainerPlace) throws(Fault) -> SharedDescriptor {
        let (directory, name) = (place.parent!, place.path[place.path.count - 1])
        return try onHost { () throws(SystemError) in
            let lifted = !isPrivileged && place.status.permissions & S_IRUSR == 0
            if lifted { try directory.descriptor.changeMode(of: name, to: place.status.permissions | S_IRUSR) }
            defer { if lifted { try? directory.descriptor.changeMode(of: name, to: place.status.permissions) } }
            return SharedDescriptor(try BackupReader.openFile(name, in: directory.descriptor))
        }
    }

    /// - Throws: `noEntry` where something else than a file has taken the name since the walk looked at it.
    private static func openFile(
        _ name: FileName, in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try directory.open(name, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            // A symbolic link, and a socket.
            throw [ELOOP, ENXIO].contains(error.code) ? SystemError.noEntry : error
        }
        guard try file.status().kind == .file else { throw .noEntry }
        return file
    }

    func doing(_ place: ContainerPlace) -> String { "cannot back up \(place.path.text)" }

    func complaint(_ fault: Fault, about place: ContainerPlace) -> Complaint {
        switch fault {
        case .corrupt:
            Complaint(
                .damaged,
                "\(doing(place)): it is damaged; see what of it is with appcontainer check, then restore, remove or "
                    + "exclude it")
        case .refused(.dataProtection):
            Complaint(.deviceLocked, "\(doing(place)): the device was locked meanwhile; try again")
        default: Complaint(fault, doing: doing(place))
        }
    }
}
