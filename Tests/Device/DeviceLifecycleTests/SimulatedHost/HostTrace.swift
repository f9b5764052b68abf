// The calls of a workload on the host, as changes that a host that loses power keeps or loses, with the
// synchronizations between them.

import CHostFaults
import Glibc
import Platform
import SandboxModel
import TestSupport

struct HostTrace {
    enum Event {
        case change(HostChange)
        /// Of a file or directory; of everything for nil.
        case synchronize(Int?, dataOnly: Bool, SyncSite)
        /// A moment that the workload named.
        case mark(Int)
    }

    let before: HostTree
    private(set) var events: [Event] = []
    /// With all changes.
    private(set) var after: HostTree
    private var numbers: [UInt64: Int]
    private var next: Int

    /// Runs a workload and records what it changes below a directory.
    init(of path: String, _ body: () throws -> Void) throws {
        let top = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        (before, numbers) = try HostTree.read(path)
        after = before
        next = before.nodes.count
        do {
            trace_arm(top.number)
            defer { trace_disarm() }
            try body()
        }
        for index in 0..<trace_count() { unsafe add(trace_at(index).pointee) }
    }

    /// Names a moment of the workload.
    static func mark(_ moment: Int) { trace_mark(Int64(moment)) }

    private mutating func change(_ change: HostChange) {
        after.apply(change)
        events.append(.change(change))
    }

    private mutating func add(_ entry: trace_entry) {
        let name = unsafe entry.name.map { unsafe String(cString: $0) } ?? ""
        let bytes = unsafe Array(UnsafeBufferPointer(start: entry.bytes, count: entry.count))
        switch unsafe entry.kind {
        case trace_marked: events.append(.mark(Int(unsafe entry.offset)))
        case trace_synchronized_all: events.append(.synchronize(nil, dataOnly: false, unsafe SyncSite(entry)))
        case trace_made:
            // A number that was another file's, which is gone.
            numbers[unsafe entry.inode] = nil
            guard let directory = numbers[unsafe entry.directory] else { return }
            numbers[unsafe entry.inode] = next
            change(.make(next, in: directory, name, HostNode(mode: unsafe entry.mode, target: bytes)))
            next += 1
        case trace_linked, trace_removed: unsafe addName(entry, name)
        case trace_renamed: unsafe addRename(entry, name)
        default:
            guard let node = numbers[unsafe entry.inode] else { return }
            unsafe addFile(entry, node, name, bytes)
        }
    }

    private mutating func addName(_ entry: trace_entry, _ name: String) {
        guard let directory = numbers[unsafe entry.directory] else { return }
        if unsafe entry.kind == trace_linked, let node = numbers[unsafe entry.inode] {
            change(.link(node, in: directory, name))
        } else if let node = after.nodes[directory]!.entries[name] {
            change(.remove(node, in: directory, name))
        }
    }

    private mutating func addRename(_ entry: trace_entry, _ name: String) {
        let newName = unsafe String(cString: entry.other_name)
        guard let from = numbers[unsafe entry.directory], let to = numbers[unsafe entry.other_directory],
            let node = after.nodes[from]!.entries[name]
        else { return }
        let flags = unsafe entry.length
        if flags == 2 {
            let other = after.nodes[to]!.entries[newName]!
            change(.exchange(node, in: from, name, with: other, at: to, newName))
        } else {
            change(.rename(node, in: from, name, to: to, newName, mayReplace: flags == 0))
        }
    }

    private mutating func addFile(_ entry: trace_entry, _ node: Int, _ name: String, _ bytes: [UInt8]) {
        let (offset, length) = unsafe (Int(entry.offset), Int(entry.length))
        switch unsafe entry.kind {
        case trace_wrote:
            overwrite(node, offset, bytes)
            if offset + bytes.count > after.nodes[node]!.length { change(.grow(node, offset + bytes.count)) }
        case trace_punched:
            overwrite(
                node, offset, [UInt8](repeating: 0, count: min(length, max(after.nodes[node]!.length - offset, 0))))
        case trace_resized:
            let present = after.nodes[node]!.length
            if present != length { change(length < present ? .cut(node, length) : .grow(node, length)) }
        case trace_attribute_set: change(.attribute(node, name, bytes))
        case trace_attribute_removed: change(.attribute(node, name, nil))
        case trace_mode_changed: change(.mode(node, unsafe entry.mode))
        case trace_synchronized, trace_synchronized_data:
            let isOfData = unsafe entry.kind == trace_synchronized_data
            events.append(.synchronize(node, dataOnly: isOfData, unsafe SyncSite(entry)))
        default: preconditionFailure("a kind of call that the model does not know")
        }
    }

    /// Each page is a change of its own, as it is after the write.
    private mutating func overwrite(_ node: Int, _ offset: Int, _ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let (index, start) = (offset + done).quotientAndRemainder(dividingBy: HostPage.size)
            let count = min(HostPage.size - start, bytes.count - done)
            var page = after.nodes[node]!.pages[index]?.bytes ?? HostPage.zeros
            page.overwrite(from: start, with: bytes, done..<done + count)
            change(.page(node, index, page == HostPage.zeros ? nil : HostPage(page)))
            done += count
        }
    }
}
