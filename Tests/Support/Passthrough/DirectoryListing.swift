// A directory that is being read by several READDIRs.

import Glibc
import Platform
import SandboxModel

/// A reader with the entry that did not fit into the last reply. One request at a time has it: it takes it out of the
/// node's ``Node/listing``.
final class DirectoryListing: @unchecked Sendable {
    private let reader: DirectoryReader
    private var waiting: DirectoryReader.AnyEntry?
    /// Behind the last entry that was taken.
    private var position: Int64 = 0

    init(_ directory: consuming Descriptor) {
        reader = DirectoryReader(directory)
    }

    /// - Parameter position: 0 for the start, which shows what has changed since; or the `next` of an entry.
    func seek(_ position: Int64) throws(SystemError) {
        guard position == 0 || position != self.position else { return }
        waiting = nil
        try reader.seek(position)
        self.position = position
    }

    /// The next entry, which stays the next until it is taken.
    func next() throws(SystemError) -> DirectoryReader.AnyEntry? {
        if waiting == nil { waiting = try reader.nextOfAny() }
        return waiting
    }

    func take() {
        position = waiting?.next ?? position
        waiting = nil
    }
}
