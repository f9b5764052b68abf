// Writing the containers of a device into a template.

import DeviceTemplate
import Glibc
import Platform
import SandboxModel
import TarFormat

/// Attributes of a template's entries that no file of a device has: theirs begin with `user.`.
enum TemplateAttribute {
    /// Marks the empty file that stands for a socket, as tar has no type for one.
    static let socket = TarEntry.Attribute(name: Array("appcontainer.kind".utf8), value: Array("socket".utf8))
    static let namespace = Array("user.".utf8)
}

/// Writes one tree, in an order that its names alone decide: a directory, what it holds but directories, then those.
struct TreeExport: ~Copyable {
    private let source: TreeWalk
    private let writer: TemplateWriter
    /// The way from the device to the tree.
    private let above: [FileName]
    /// Of files with several names: the path of the first one written.
    private var firstPaths: [FileStatus.Identity: [UInt8]] = [:]
    private let buffer = PageBuffer(count: 1 << 20)

    enum Failure: Error {
        case host(SystemError)
        /// An entry that no template can hold.
        case entry(path: [UInt8], words: String)
        case cancelled
    }

    init(from source: consuming Descriptor, at above: [FileName], to writer: TemplateWriter) {
        // Permissions do not matter to root's process.
        self.source = TreeWalk(SharedDescriptor(source), liftsModes: geteuid() != 0)
        (self.above, self.writer) = (above, writer)
    }

    /// Writes everything. The modes of the source are as before when this value is gone; only a kill leaves them
    /// lifted.
    /// - Parameter progress: called with the bytes written since the last call; false cancels.
    /// - Returns: false if cancelled.
    mutating func run(progress: (Int64) -> Bool) throws(Failure) -> Bool {
        var failure: SystemError?
        while let directory = source.next(failed: { error, _ in failure = error }) {
            if let failure { throw .host(failure) }
            guard try write(directory, progress: progress) else { return false }
        }
        if let failure { throw .host(failure) }
        return true
    }

    /// Runs a call of the host.
    static func host<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(Failure) -> Result {
        do throws(SystemError) { return try body() } catch { throw .host(error) }
    }

    /// Writes a directory and what it holds; the directories in it come later.
    private mutating func write(
        _ directory: SharedDescriptor, progress: (Int64) -> Bool
    ) throws(Failure) -> Bool {
        let path = above + source.path
        let status = try TreeExport.host { () throws(SystemError) in try directory.descriptor.status() }
        var entry = try entry(path.joined, .directory, status, AttributeHolder(directory.descriptor))
        if let mode = source.liftedMode { entry.permissions = mode }
        try TreeExport.host { () throws(SystemError) in try writer.add(entry) }
        let names = try TreeExport.host { () throws(SystemError) in try directory.descriptor.names { _ in true } }
        var directories: [FileName] = []
        for name in names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            let status = try TreeExport.host { () throws(SystemError) in try directory.descriptor.status(of: name) }
            if status.kind == .directory {
                directories.append(name)
            } else {
                let place = (path + [name]).joined
                guard try write(name, status, at: place, from: directory, progress) else { return false }
            }
        }
        // The walk takes the last first.
        for name in directories.reversed() { source.add(name) }
        return true
    }

    /// Writes an entry that is no directory.
    private mutating func write(
        _ name: FileName, _ status: FileStatus, at path: [UInt8], from directory: SharedDescriptor,
        _ progress: (Int64) -> Bool
    ) throws(Failure) -> Bool {
        if status.linkCount > 1 {
            if let first = firstPaths[status.identity] {
                let link = try entry(path, .hardLink(first), status, nil)
                try TreeExport.host { () throws(SystemError) in try writer.add(link) }
                // Counted for each name, as `contentSize()` does.
                return progress(status.kind == .file ? status.size : 0)
            }
            firstPaths[status.identity] = path
        }
        let entry: TarEntry
        switch status.kind {
        case .file: return try writeFile(name, status, at: path, from: directory, progress)
        case .symbolicLink:
            let target = try TreeExport.host { () throws(SystemError) in
                try directory.descriptor.symbolicLinkTarget(name)
            }
            entry = try self.entry(path, .symbolicLink(target), status, nil)
        case .fifo: entry = try self.entry(path, .fifo, status, nil)
        case .socket:
            var socket = try self.entry(path, TarEntry.file(0), status, nil)
            socket.attributes = [TemplateAttribute.socket]
            entry = socket
        case .device: throw .entry(path: path, words: "a device node")
        case .directory: preconditionFailure("directories are handled above")
        }
        try TreeExport.host { () throws(SystemError) in try writer.add(entry) }
        return true
    }

    /// The header of an entry.
    /// - Parameter attributes: nil for an entry whose kind has none.
    private func entry(
        _ path: [UInt8], _ kind: TarEntry.Kind, _ status: FileStatus, _ attributes: AttributeHolder?
    ) throws(Failure) -> TarEntry {
        guard path.count <= TreeImport.longestPath else {
            throw .entry(path: path, words: "a path of more than \(TreeImport.longestPath) bytes")
        }
        var entry = TarEntry(path: path, kind: kind)
        // No backing file has a set-ID bit (`NodeModes`): one that was put there stays behind.
        entry.permissions = status.kind == .directory ? status.permissions : status.hostPermissions
        (entry.owner, entry.group) = (status.owner, status.group)
        entry.modified = status.modificationTime
        guard let attributes else { return entry }
        entry.attributes = try TreeExport.host { () throws(SystemError) in
            var all: [TarEntry.Attribute] = []
            // Those of other namespaces belong to the host.
            for name in try attributes.names() where name.starts(with: TemplateAttribute.namespace) {
                all.append(TarEntry.Attribute(name: name, value: try attributes.value(of: name)))
            }
            return all.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        }
        guard entry.attributes.reduce(0, { $0 + 3 * $1.name.count + $1.value.count + 32 }) <= TarEntry.mostAttributes
        else { throw .entry(path: path, words: "attributes of more than \(TarEntry.mostAttributes) bytes") }
        return entry
    }

    /// Writes a file with its content, holes as holes.
    private func writeFile(
        _ name: FileName, _ status: FileStatus, at path: [UInt8], from directory: SharedDescriptor,
        _ progress: (Int64) -> Bool
    ) throws(Failure) -> Bool {
        let file = try TreeExport.host { () throws(SystemError) in
            try directory.descriptor.openLiftingMode(name, status)
        }
        let data = try TreeExport.host { () throws(SystemError) in try file.dataRanges(length: status.size) }
        guard data.count <= TarEntry.mostPieces else {
            throw .entry(path: path, words: "a file of more than \(TarEntry.mostPieces) holes")
        }
        let header = try entry(path, .file(length: status.size, data: data), status, AttributeHolder(file: file))
        return try TreeExport.host { () throws(SystemError) in
            try writer.begin(header)
            var position: Int64 = 0
            for range in data {
                try writer.write(hole: range.lowerBound - position)
                guard try write(range, of: file, progress) else { return false }
                position = range.upperBound
            }
            try writer.write(hole: status.size - position)
            try writer.end()
            return progress(status.size - data.reduce(0) { $0 + Int64($1.count) })
        }
    }

    private func write(
        _ range: Range<Int64>, of file: borrowing Descriptor, _ progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = Int(min(range.upperBound - position, Int64(buffer.count)))
            let count = try file.read(into: buffer, count: wanted, from: position)
            // The file became shorter than it was.
            guard count == wanted else { throw .inputOutput }
            try buffer.withBytes(0, count: count) { (bytes) throws(SystemError) in try writer.write(bytes) }
            position += Int64(count)
            guard progress(Int64(count)) else { return false }
        }
        return true
    }
}

extension Descriptor {
    /// The ranges of this file that are not holes.
    fileprivate borrowing func dataRanges(length: Int64) throws(SystemError) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        var position: Int64 = 0
        while position < length, let start = try nextData(from: position), start < length {
            let end = min(try nextHole(from: start), length)
            // Filesystems may report neighbours apart.
            if let last = ranges.last, last.upperBound == start {
                ranges[ranges.count - 1] = last.lowerBound..<end
            } else {
                ranges.append(start..<end)
            }
            position = end
        }
        return ranges
    }
}
