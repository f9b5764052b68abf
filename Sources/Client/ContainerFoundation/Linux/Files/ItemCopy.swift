// Copies items as on iOS, with class, attributes, mode and times. Foundation on Linux leaves out most of them.

import Foundation
import Glibc
import Platform
import SandboxModel

/// A copy of a tree. Only the current directory is open, so depth costs no descriptors.
struct ItemCopy {
    /// The properties that the top item's copy gets. Items in a directory are copied with all properties.
    struct Extent {
        /// The mode bits to copy: fewer for a copy that must not be accessible yet.
        var mode: mode_t = 0o7777
        var hasAttributes = true
    }

    /// A directory that the copy has entered.
    private struct Level {
        let name: FileName
        /// The name of the copy; it differs at the top only.
        let copyName: FileName
        let status: FileStatus
        let copyIdentity: FileStatus.Identity
        /// The subdirectories still to be copied.
        var pending: [FileName]
    }

    let extent: Extent
    private let sourceTop: SharedDescriptor
    private let targetTop: SharedDescriptor
    private let topPaths: (source: String, target: String)
    /// The current directory, and its copy.
    private var source: SharedDescriptor
    private var target: SharedDescriptor
    private var levels: [Level] = []

    /// Whether the current item is the top itself.
    var isAtTop: Bool { levels.isEmpty }

    /// Copies a file, a symbolic link, or a directory with its contents.
    ///
    /// - Parameters:
    ///   - source: a path. A symbolic link is copied itself.
    ///   - target: a path on a mount that must be free.
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

    /// Names are bytes from here on, because those in a directory need not be UTF-8.
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

    /// The path of an item in the current directory, for error messages.
    func sourcePath(_ name: FileName) -> String { path(name, below: topPaths.source) }
    func targetPath(_ name: FileName) -> String { path(name, below: topPaths.target) }

    private func path(_ name: FileName, below top: String) -> String {
        levels.isEmpty ? top : "\(top)/\((levels.dropFirst().map(\.name) + [name]).text)"
    }
}

// MARK: Directories

extension ItemCopy {
    /// Makes a directory's copy, and copies its items except subdirectories.
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

    /// Completes a directory's copy with the properties that adding items would change.
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

    /// Opens the parent of a directory again, so that the copy need not keep all directories above open.
    ///
    /// - Parameters:
    ///   - names: the path from the top, used if `..` fails: the directory was moved, or may not be searched.
    ///   - identity: of the expected parent; nil for the top.
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
