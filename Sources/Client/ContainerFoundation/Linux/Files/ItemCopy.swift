// Copying as iOS copies: with class, attributes, mode and times. Foundation on Linux leaves most of them behind.

import Foundation
import Glibc
import Platform
import SandboxModel

/// A copy on its way through a tree. Depth costs no descriptors: only the directory that it is in is open.
struct ItemCopy {
    /// What of the original comes along to the copy itself. What lies in a directory comes with all that it has.
    struct Extent {
        /// The bits of the mode: fewer for a copy that nobody is to find yet.
        var mode: mode_t = 0o7777
        var hasAttributes = true
    }

    /// A directory that the copy has entered.
    private struct Level {
        let name: FileName
        /// Another one at the top only.
        let copyName: FileName
        let status: FileStatus
        let copyIdentity: FileStatus.Identity
        /// The directories in it that are still to be copied.
        var pending: [FileName]
    }

    let extent: Extent
    private let sourceTop: SharedDescriptor
    private let targetTop: SharedDescriptor
    private let topPaths: (source: String, target: String)
    /// The directory that is being copied, and its copy.
    private var source: SharedDescriptor
    private var target: SharedDescriptor
    private var levels: [Level] = []

    /// Whether what is copied is the top itself, and not in it.
    var isAtTop: Bool { levels.isEmpty }

    /// Copies a file, a link, or a directory with all that is in it.
    ///
    /// - Parameters:
    ///   - source: a path; a link is copied, and not what it leads to.
    ///   - target: a path on a mount, where nothing may be.
    static func copy(_ source: String, to target: String, extent: Extent = Extent()) throws(CocoaError) {
        let from = try onItem(source) { () throws(SystemError) in try FilePlace(try HostPath.absolute(source)) }
        let to = try onItem(target) { () throws(SystemError) in try FilePlace(target) }
        let isInside = try onItem(source) { () throws(SystemError) in try to.isInside(from) }
        if isInside { throw CocoaError(.invalid, path: target) }
        var copy = try onItem(source) { () throws(SystemError) in
            ItemCopy(
                extent, from: SharedDescriptor(try from.directory.duplicate()),
                to: SharedDescriptor(try to.directory.duplicate()), paths: (source, target))
        }
        try copy.run(from.name, to: to.name)
    }

    private init(
        _ extent: Extent, from source: SharedDescriptor, to target: SharedDescriptor,
        paths: (source: String, target: String)
    ) {
        self.extent = extent
        (sourceTop, targetTop, topPaths) = (source, target, paths)
        (self.source, self.target) = (source, target)
    }

    /// From here on names are bytes, as POSIX has them: not all that are in a directory need be text.
    private mutating func run(_ name: FileName, to copyName: FileName) throws(CocoaError) {
        let directory = source
        let status = try onItem(topPaths.source) { () throws(SystemError) in
            try directory.descriptor.status(of: name)
        }
        guard status.kind == .directory else {
            return try copyNode(name, status, from: source, to: target, as: copyName)
        }
        try enter(name, as: copyName)
        while let last = levels.indices.last {
            if let name = levels[last].pending.popLast() { try enter(name, as: name) } else { try leave() }
        }
    }

    /// The path of something in the directory that is being copied, as text for people.
    func sourcePath(_ name: FileName) -> String { path(name, below: topPaths.source) }
    func targetPath(_ name: FileName) -> String { path(name, below: topPaths.target) }

    private func path(_ name: FileName, below top: String) -> String {
        levels.isEmpty ? top : "\(top)/\((levels.dropFirst().map(\.name) + [name]).text)"
    }
}

// MARK: Directories

extension ItemCopy {
    /// Makes a directory's copy, and copies what is in it but directories.
    private mutating func enter(_ name: FileName, as copyName: FileName) throws(CocoaError) {
        let (outer, outerCopy) = (source, target)
        let (status, inner, reader) = try onItem(sourcePath(name)) { () throws(SystemError) in
            let status = try outer.descriptor.status(of: name)
            let inner = SharedDescriptor(try outer.descriptor.openDirectory(name))
            return (status, inner, try inner.descriptor.entries())
        }
        let (innerCopy, identity) = try onItem(targetPath(name)) { () throws(SystemError) in
            try outerCopy.descriptor.makeDirectory(copyName, mode: S_IRWXU)
            if let protection = AttributeHolder(name, in: outer.descriptor).mountedProtection {
                try AttributeHolder(copyName, in: outerCopy.descriptor).setProtection(protection)
            }
            let copy = SharedDescriptor(try outerCopy.descriptor.openDirectory(copyName))
            return (copy, try copy.descriptor.status().identity)
        }
        levels.append(Level(name: name, copyName: copyName, status: status, copyIdentity: identity, pending: []))
        (source, target) = (inner, innerCopy)
        let level = levels.count - 1
        while let entry = try onItem(sourcePath(name), { () throws(SystemError) in try reader.next() }) {
            let status = try onItem(sourcePath(entry.name)) { () throws(SystemError) in
                try inner.descriptor.status(of: entry.name)
            }
            if status.kind == .directory {
                levels[level].pending.append(entry.name)
            } else {
                try copyNode(entry.name, status, from: inner, to: innerCopy, as: entry.name)
            }
        }
    }

    /// Gives a directory's copy what nothing that is made in it may change any more.
    private mutating func leave() throws(CocoaError) {
        let done = levels.removeLast()
        let (inner, innerCopy) = (source, target)
        source = try onItem(sourcePath(done.name)) { () throws(SystemError) in
            try above(inner, top: sourceTop, levels.map(\.name), levels.last?.status.identity)
        }
        target = try onItem(targetPath(done.name)) { () throws(SystemError) in
            try above(innerCopy, top: targetTop, levels.map(\.copyName), levels.last?.copyIdentity)
        }
        let isTop = levels.isEmpty
        if !isTop || extent.hasAttributes {
            ItemCopy.carryAttributes(
                from: AttributeHolder(done.name, in: source.descriptor),
                to: AttributeHolder(done.copyName, in: target.descriptor))
        }
        let (outerCopy, mode) = (target, done.status.permissions & (isTop ? extent.mode : 0o7777))
        try onItem(targetPath(done.name)) { () throws(SystemError) in
            try outerCopy.descriptor.changeMode(of: done.copyName, to: mode)
            try outerCopy.descriptor.changeTimes(
                of: done.copyName, access: done.status.raw.st_atim, modification: done.status.modificationTime)
        }
    }

    /// The directory that one is in: the way back up, without which the copy would hold every directory above open.
    ///
    /// - Parameters:
    ///   - names: how it is reached from the top, where there is no way up: somebody moved the directory, or may not search it.
    ///   - identity: which one it is to be; nil for the top.
    private func above(
        _ directory: SharedDescriptor, top: SharedDescriptor, _ names: @autoclosure () -> [FileName],
        _ identity: FileStatus.Identity?
    ) throws(SystemError) -> SharedDescriptor {
        guard let identity else { return top }
        if let parent = try? directory.descriptor.openParent(), try parent.status().identity == identity {
            return SharedDescriptor(parent)
        }
        let parent = try top.descriptor.openDirectory(at: names())
        guard try parent.status().identity == identity else { throw SystemError(code: ESTALE) }
        return SharedDescriptor(parent)
    }
}
