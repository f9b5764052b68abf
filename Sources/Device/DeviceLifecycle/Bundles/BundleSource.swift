// A `.app` directory of the host: looked through before anything is copied, then copied.

import BackingStore
import BundleSeal
import Glibc
import Platform
import SandboxModel

/// A bundle that is to be installed, with a list of all that lies in it.
struct BundleSource: Sendable {
    typealias Entry = BundleTree.Entry

    /// As the user named it.
    let path: String
    /// The name of the `.app` directory.
    let name: FileName
    let information: BundleInformation
    /// Bytes that its files hold.
    let size: Int64
    /// As it was when it was opened: what is added to the bundle later is not copied.
    private let tree: BundleTree

    var root: SharedDescriptor { tree.root }

    /// Looks through a bundle.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidApp` or `invalidIdentifier`.
    static func open(_ path: String) throws(Complaint) -> BundleSource {
        let app = try AppDirectory(at: path)
        let name = app.name
        let information = try BundleInformation(of: app.root.descriptor, bundleName: name)
        let tree = try Complaint.wrap("cannot look through \(path)") { () throws(SystemError) in
            try BundleTree(of: app.root)
        }
        let entries = tree.entries
        if let special = entries.first(where: { ![.file, .directory, .symbolicLink].contains($0.status.kind) }) {
            throw Complaint(
                .invalidApp, "\(name.text)/\(special.path.text) is neither a file, a directory nor a symbolic link")
        }
        var links: [[FileName]: [UInt8]] = [:]
        for entry in entries where entry.status.kind == .symbolicLink { links[entry.path] = entry.target }
        for entry in entries where links[entry.path] != nil {
            guard BundleLinks.staysInside(entry.path, links) else {
                throw Complaint(.invalidApp, "\(name.text)/\(entry.path.text) is a symbolic link out of the bundle")
            }
        }
        let size = entries.reduce(0) { $0 + ($1.status.kind == .file ? $1.status.size : 0) }
        return BundleSource(path: path, name: name, information: information, size: size, tree: tree)
    }

    /// Copies the listed entries into a directory, with modes and times.
    /// - Parameter progress: gets the number of bytes copied since its last call; false ends the copy.
    /// - Returns: false when `progress` ended it.
    func copy(
        to container: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Bool {
        try container.makeDirectory(name, mode: S_IRWXU)
        let target = SharedDescriptor(try container.openDirectory(name))
        for entry in tree.entries where entry.status.kind != .file {
            guard let name = entry.path.last else { continue }
            let parent = try target.descriptor.openDirectory(at: entry.path.dropLast())
            if entry.status.kind == .directory {
                try parent.makeDirectory(name, mode: S_IRWXU)
            } else {
                try parent.makeSymbolicLink(name, target: entry.target)
            }
        }
        // The longest first, so that no thread is left with one at the end.
        let files = tree.entries.filter { $0.status.kind == .file }.sorted { $0.status.size > $1.status.size }
        let finished = try ParallelWork.run(files.count, progress: progress) {
            [tree] (number, meter) throws(SystemError) in
            let directory = files[number].path.dropLast()
            try BundleSource.copyFile(
                files[number], from: tree.root.descriptor.openDirectory(at: directory),
                to: target.descriptor.openDirectory(at: directory), meter)
        }
        guard finished else { return false }
        // The deepest first: a mode or a time set too early would be in the way, or be changed again.
        for entry in tree.entries.reversed() where entry.status.kind == .directory {
            guard let name = entry.path.last else { continue }
            try BundleSource.finish(
                name, in: target.descriptor.openDirectory(at: entry.path.dropLast()), like: entry.status)
        }
        try BundleSource.finish(name, in: container, like: tree.root.descriptor.status())
        return true
    }

    /// Copies one file, on one of several threads.
    private static func copyFile(
        _ entry: Entry, from source: borrowing Descriptor, to target: borrowing Descriptor, _ meter: WorkMeter
    ) throws(SystemError) {
        guard let name = entry.path.last else { return }
        let input = try source.open(name, flags: O_RDONLY | O_NONBLOCK)
        // It was a file when it was listed.
        guard try input.status().kind == .file else { throw .invalid }
        let output = try target.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
        let finished = try output.copyContent(of: input) { count in
            meter.add(count)
            return !meter.isCancelled
        }
        guard finished else { return }
        try output.changeMode(entry.status.permissions & 0o777 | S_IRUSR)
        try output.changeTimes(access: entry.status.modificationTime, modification: entry.status.modificationTime)
    }

    /// Gives a copied directory its mode and times.
    private static func finish(
        _ name: FileName, in parent: borrowing Descriptor, like status: FileStatus
    ) throws(SystemError) {
        // The owner may always look in, or an ordinary user's bundle could neither be shown nor removed.
        try parent.changeMode(of: name, to: status.permissions & 0o777 | S_IRUSR | S_IXUSR)
        try parent.changeTimes(of: name, access: status.modificationTime, modification: status.modificationTime)
    }
}
