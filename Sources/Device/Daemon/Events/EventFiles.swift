// The two files of the event record: the one that lines are appended to, and the older one that it replaces when it is
// full.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// The open file of the record. A value that ``EventLog`` guards with its lock: one thread at a time writes or replaces
/// files.
struct EventFiles: Sendable {
    /// The largest size in bytes. A line that would exceed it goes to a new file, and the present one becomes the older
    /// one.
    private let largest: Int64
    private let directory: SharedDescriptor
    /// nil before the first line, and after an error.
    private var file: SharedDescriptor?
    /// The file ends in the middle of a line.
    private var isTorn = false

    /// - Parameter device: the path of the device directory.
    init(device: String, largest: Int64) throws(SystemError) {
        directory = SharedDescriptor(try Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY))
        self.largest = largest
    }

    /// Both files with their present lengths, the older one first.
    func parts() throws(SystemError) -> [EventHistory.Part] {
        var parts: [EventHistory.Part] = []
        for name in [EventRecord.older, EventRecord.newer] {
            do throws(SystemError) {
                let file = try directory.descriptor.openRecord(name, flags: O_RDONLY)
                let length = try file.status().size
                parts.append(EventHistory.Part(file: SharedDescriptor(file), length: length))
            } catch {
                guard error == .noEntry else { throw error }
            }
        }
        return parts
    }

    /// Appends lines with one write, all of them or none. After an error the next call opens the file anew.
    mutating func append(_ lines: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try write(lines)
        } catch {
            file = nil
            throw error
        }
    }

    /// Replaces the files where the newer one is full, and appends. A line that is longer than a file goes to an empty
    /// one.
    private mutating func write(_ lines: [UInt8]) throws(SystemError) {
        var (file, status) = try current()
        if status.size > 0, status.size + Int64(lines.count) > largest {
            try directory.descriptor.rename(EventRecord.newer, to: EventRecord.older, in: directory.descriptor)
            self.file = nil
            (file, status) = try current()
        }
        do throws(SystemError) {
            try file.descriptor.append(isTorn ? [UInt8(ascii: "\n")] + lines : lines)
            isTorn = false
        } catch {
            // A full disk may have taken a part of the lines.
            try? file.descriptor.truncate(to: status.size)
            throw error
        }
    }

    /// The file to append to: the open one, or a new one where somebody has removed it.
    private mutating func current() throws(SystemError) -> (SharedDescriptor, FileStatus) {
        if let file, let status = try? file.descriptor.status(), status.linkCount == 1 {
            return (file, status)
        }
        // A device that is being removed must not get a new file, which would keep its directory.
        guard try directory.descriptor.exists(DeviceDirectory.Name.record) else { throw .noEntry }
        let flags = O_RDWR | O_CREAT | O_APPEND
        let file = try directory.descriptor.openRecord(EventRecord.newer, flags: flags, mode: 0o600)
        let status = try file.status()
        try file.giveToOwner(of: directory.descriptor)
        isTorn = try EventFiles.isTorn(file, length: status.size)
        let shared = SharedDescriptor(file)
        self.file = shared
        return (shared, status)
    }

    /// Whether a killed process has left half of a line.
    private static func isTorn(_ file: borrowing Descriptor, length: Int64) throws(SystemError) -> Bool {
        guard length > 0 else { return false }
        let last = PageBuffer(count: 1)
        _ = try file.read(into: last, count: 1, from: length - 1)
        return last.bytes(0, count: 1) != [UInt8(ascii: "\n")]
    }
}
