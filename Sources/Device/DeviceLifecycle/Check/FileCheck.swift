// The check of one encrypted file: read as a whole, and found authentic or not.

import BackingStore
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Reads files and finds their damage.
struct FileCheck {
    /// The result for one file.
    enum Outcome {
        case whole
        /// Its class's key is not at hand.
        case closed
        /// Removed since it was listed.
        case gone
        /// The device has restarted while it was being read.
        case restarted
        /// The flaws, a line for each place.
        case damaged([String])
        case cancelled
    }

    let context: StoreContext
    /// Whether modes keep this process out of no file.
    let isPrivileged = ContainerOwner.current.user == 0

    /// Reads one file.
    /// - Parameters:
    ///   - live: the file as a volume has it open; nil if none has.
    ///   - progress: gets the number of bytes read since its last call; false ends the check.
    func check(
        _ name: FileName, in directory: borrowing Descriptor, _ status: FileStatus, live: EncryptedFile?,
        progress: (Int64) -> Bool
    ) -> Outcome {
        // A problem is reported to the caller of the check, once, and not to the log besides. After a write that failed
        // halfway only the session's own context can interpret its pages.
        let places = Places()
        let own =
            context.isDisturbed ? context : StoreContext(sharing: context, report: { places.record($0.place) })
        // A file that was open before a restart can be read by nobody any more.
        var reading = live?.isRetired == true ? nil : live
        do throws(Fault) {
            if reading == nil {
                let backing = try open(name, directory, status)
                reading = try EncryptedFile.open(backing, isWritable: false, context: own)
            }
            guard let damaged = try FileCheck.read(reading!, progress: progress) else { return .cancelled }
            return damaged.isEmpty ? .whole : .damaged(damaged.map(\.description))
        } catch {
            switch error {
            case _ where reading?.isRetired == true: return .restarted
            case .refused: return .closed
            case .system(.noEntry): return .gone
            case .system(let error): return .damaged(["cannot be read: \(error.message)"])
            case .corrupt: return .damaged([places.openingProblem])
            }
        }
    }

    /// Remembers the place at which a file could not be opened.
    private final class Places: Sendable {
        private let last = Mutex<Corruption.Place?>(nil)

        func record(_ place: Corruption.Place) {
            last.withLock { $0 = place }
        }

        var openingProblem: String {
            switch last.withLock({ $0 }) {
            case .length: "the backing file is not as long as its header says"
            default: "the header does not authenticate"
            }
        }
    }

    /// Blocks that follow each other and cannot be read.
    struct Blocks: Equatable, CustomStringConvertible {
        let first: Int64
        var last: Int64

        var description: String {
            first == last
                ? "block \(first) does not authenticate" : "blocks \(first) to \(last) do not authenticate"
        }
    }

    /// Opens a backing file, also one whose mode keeps its own ordinary user out.
    private func open(
        _ name: FileName, _ directory: borrowing Descriptor, _ status: FileStatus
    ) throws(Fault) -> SharedDescriptor {
        let isPrivileged = isPrivileged
        return try onHost { () throws(SystemError) in
            let lifted = !isPrivileged && status.permissions & S_IRUSR == 0
            let mode = status.hostPermissions
            if lifted { try directory.changeMode(of: name, to: mode | S_IRUSR) }
            defer { if lifted { try? directory.changeMode(of: name, to: mode) } }
            return SharedDescriptor(try directory.openStored(name, flags: O_RDONLY | O_NONBLOCK))
        }
    }

    /// Reads all blocks that hold data.
    /// - Returns: those that do not authenticate; nil when `progress` ended it.
    private static func read(_ file: EncryptedFile, progress: (Int64) -> Bool) throws(Fault) -> [Blocks]? {
        let blockSize = Int64(ContentLayout.blockSize)
        let groupSize = blockSize * Int64(ContentLayout.blocksPerGroup)
        let length = file.length
        var damaged: [Blocks] = []
        var position: Int64 = 0
        while position < length {
            guard let data = try nextData(of: file, from: position) else { break }
            guard progress(data - position) else { return nil }
            // To the end of the group, so that what one bad tag page hides is one group.
            position = data / blockSize * blockSize
            let end = min((position / groupSize + 1) * groupSize, length)
            do throws(Fault) {
                try file.read(count: Int(end - position), from: position) { _ in }
            } catch .corrupt, .system(.inputOutput) {
                try findDamage(in: file, position..<end, into: &damaged)
            }
            guard progress(end - position) else { return nil }
            position = end
        }
        return progress(max(0, length - position)) ? damaged : nil
    }

    /// The next data from a position; the position itself where a tag page that does not authenticate hides it.
    private static func nextData(of file: EncryptedFile, from position: Int64) throws(Fault) -> Int64? {
        do throws(Fault) {
            return try file.seek(from: position, toHole: false)
        } catch .corrupt {
            return position
        }
    }

    /// Reads a range block by block, and adds those that do not authenticate; neighbours become one entry.
    /// - Throws: faults other than ``Fault/corrupt``, as of the host.
    private static func findDamage(
        in file: EncryptedFile, _ range: Range<Int64>, into damaged: inout [Blocks]
    ) throws(Fault) {
        let blockSize = Int64(ContentLayout.blockSize)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: Int(blockSize)) {
            let count = Int(min(blockSize, range.upperBound - offset))
            do throws(Fault) {
                try file.read(count: count, from: offset) { _ in }
            } catch .system(.inputOutput) where file.isRefused(offset..<offset + Int64(count)) {
                // Bytes that were refused, for want of space or of a key, are not here, and so cannot be damaged.
            } catch .corrupt {
                let block = offset / blockSize
                if let last = damaged.last, last.last == block - 1 {
                    damaged[damaged.count - 1].last = block
                } else {
                    damaged.append(Blocks(first: block, last: block))
                }
            }
        }
    }
}
