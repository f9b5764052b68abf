// Everything of one encrypted file, read and found authentic or not.

import BackingStore
import Glibc
import Platform
import SandboxModel
import Synchronization

enum FileCheck {
    enum Outcome {
        case whole
        /// Its class's key is not at hand.
        case closed
        case gone
        /// The device has restarted while it was being read.
        case restarted
        /// What is wrong, a line for each place.
        case damaged([String])
        case cancelled

        /// - Parameter live: the file as a volume has it open.
        init(
            _ name: FileName, _ directory: borrowing Descriptor, _ status: FileStatus, context: StoreContext,
            live: EncryptedFile?, isPrivileged: Bool, progress: (Int64) -> Bool
        ) {
            // What is found here is told to whoever asked, once, and not to the log besides. After a write that
            // failed halfway only the session's own context knows what to make of its pages.
            let places = Places()
            let own =
                context.isDisturbed
                ? context
                : StoreContext(sharing: context, report: { places.note($0.place) })
            // What a process had open before a restart is read by nobody any more.
            var reading = live?.isRetired == true ? nil : live
            do throws(Fault) {
                if reading == nil {
                    let backing = try FileCheck.open(name, directory, status, isPrivileged: isPrivileged)
                    reading = try EncryptedFile.open(backing, isWritable: false, context: own)
                }
                guard let damaged = try FileCheck.read(reading!, progress: progress) else {
                    self = .cancelled
                    return
                }
                self = damaged.isEmpty ? .whole : .damaged(damaged.map(\.description))
            } catch {
                switch error {
                case _ where reading?.isRetired == true: self = .restarted
                case .refused: self = .closed
                case .system(.noEntry): self = .gone
                case .system(let error): self = .damaged(["cannot be read: \(error.message)"])
                case .corrupt: self = .damaged([places.openingProblem])
                }
            }
        }
    }

    /// Where the file could not be opened.
    private final class Places: Sendable {
        private let last = Mutex<Corruption.Place?>(nil)

        func note(_ place: Corruption.Place) {
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

    private static func open(
        _ name: FileName, _ directory: borrowing Descriptor, _ status: FileStatus, isPrivileged: Bool
    ) throws(Fault) -> SharedDescriptor {
        try onHost { () throws(SystemError) in
            let lifted = !isPrivileged && status.permissions & S_IRUSR == 0
            if lifted { try directory.changeMode(of: name, to: status.permissions | S_IRUSR) }
            defer { if lifted { try? directory.changeMode(of: name, to: status.permissions) } }
            return SharedDescriptor(try directory.open(name, flags: O_RDONLY | O_NONBLOCK))
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

    /// A tag page that does not authenticate hides whether there is data: then the place itself.
    private static func nextData(of file: EncryptedFile, from position: Int64) throws(Fault) -> Int64? {
        do throws(Fault) {
            return try file.seek(from: position, toHole: false)
        } catch .corrupt {
            return position
        }
    }

    private static func findDamage(
        in file: EncryptedFile, _ range: Range<Int64>, into damaged: inout [Blocks]
    ) throws(Fault) {
        let blockSize = Int64(ContentLayout.blockSize)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: Int(blockSize)) {
            let count = Int(min(blockSize, range.upperBound - offset))
            do throws(Fault) {
                try file.read(count: count, from: offset) { _ in }
            } catch .system(.inputOutput) where file.isRefused(offset..<offset + Int64(count)) {
                // Of what was refused, for want of room or of a key, nothing is here that could be damaged.
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
