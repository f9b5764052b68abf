// A `.app` directory of the host: looked through before anything is copied, then copied.

import BackingStore
import BundleSeal
import Glibc
import Platform
import SandboxModel

/// A bundle that is to be installed.
struct BundleSource: Sendable {
    typealias Entry = BundleTree.Entry

    let path: String
    let name: FileName
    let information: BundleInformation
    /// Bytes that its files hold.
    let size: Int64
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

    /// Copies what was looked at into a directory, with modes and times.
    /// - Parameter progress: told how many bytes more are copied; false ends the copy.
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

    private static func copyFile(
        _ entry: Entry, from source: borrowing Descriptor, to target: borrowing Descriptor, _ meter: WorkMeter
    ) throws(SystemError) {
        guard let name = entry.path.last else { return }
        let input = try source.open(name, flags: O_RDONLY | O_NONBLOCK)
        // It was a file when it was looked at.
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

    private static func finish(
        _ name: FileName, in parent: borrowing Descriptor, like status: FileStatus
    ) throws(SystemError) {
        // The owner may always look in, or an ordinary user's bundle could neither be shown nor removed.
        try parent.changeMode(of: name, to: status.permissions & 0o777 | S_IRUSR | S_IXUSR)
        try parent.changeTimes(of: name, access: status.modificationTime, modification: status.modificationTime)
    }
}

/// Where a bundle's symbolic links lead, by the bundle's own names alone.
enum BundleLinks {
    /// Links that are followed on the way to one place, as the kernel's own limit (path_resolution(7)).
    private static let limit = 40

    /// Whether following a link stays in the bundle all the way. A link to nothing, or to itself, stays.
    ///
    /// - Parameter links: every symbolic link of the bundle and its target.
    static func staysInside(_ link: [FileName], _ links: [[FileName]: [UInt8]]) -> Bool {
        guard let target = links[link] else { return true }
        var place = Array(link.dropLast())
        var remaining = [target]
        var steps: [[UInt8]] = []
        var followed = 1
        while let text = remaining.popLast() {
            if text.first == UInt8(ascii: "/") { return false }
            steps.append(contentsOf: text.split(separator: UInt8(ascii: "/")).map(Array.init).reversed())
            while let step = steps.popLast() {
                if step == [UInt8(ascii: ".")] { continue }
                if step == Array("..".utf8) {
                    guard place.popLast() != nil else { return false }
                    continue
                }
                // A name that cannot exist: the link leads to nothing.
                guard let name = FileName(step) else { return true }
                place.append(name)
                if let next = links[place] {
                    followed += 1
                    guard followed <= limit else { return true }
                    place.removeLast()
                    remaining.append(next)
                    break
                }
            }
        }
        return true
    }
}
