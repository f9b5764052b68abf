// A tree in memory that answers like POSIX: the model that a volume is compared with.

import Foundation
import Platform
import SandboxModel

/// The expected content of `Documents`: a tree of nodes in memory, with POSIX's answers.
final class ModelNode {
    enum Kind { case file, directory, link }

    let kind: Kind
    var bytes: [UInt8] = []
    var target: [UInt8] = []
    var entries: [FileName: ModelNode] = [:]
    var attributes: [String: [UInt8]] = [:]
    var linkCount = 1

    init(_ kind: Kind) { self.kind = kind }

    func resize(to size: Int) {
        if size < bytes.count { bytes.removeSubrange(size...) }
        if size > bytes.count { bytes += repeatElement(0, count: size - bytes.count) }
    }

    func write(_ new: [UInt8], at offset: Int) {
        guard !new.isEmpty else { return }
        if offset + new.count > bytes.count { resize(to: offset + new.count) }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }

    func contains(_ other: ModelNode) -> Bool {
        self === other || entries.values.contains { $0.contains(other) }
    }

    /// The error number that a rename gives, or 0.
    static func rename(
        _ name: FileName, in source: ModelNode, to newName: FileName, in target: ModelNode, mode: Descriptor.RenameMode
    ) -> Int32 {
        guard let moved = source.entries[name] else { return ENOENT }
        let replaced = target.entries[newName]
        if mode == .keeping, replaced != nil { return EEXIST }
        if mode == .exchanging, replaced == nil { return ENOENT }
        if moved.contains(target) { return EINVAL }
        if let replaced, replaced.contains(source) { return mode == .exchanging ? EINVAL : ENOTEMPTY }
        if mode == .exchanging {
            source.entries[name] = replaced
            target.entries[newName] = moved
            return 0
        }
        if let replaced {
            if replaced === moved { return 0 }
            if replaced.kind == .directory, moved.kind != .directory { return EISDIR }
            if replaced.kind != .directory, moved.kind == .directory { return ENOTDIR }
            if !replaced.entries.isEmpty { return ENOTEMPTY }
            replaced.linkCount -= 1
        }
        source.entries[name] = nil
        target.entries[newName] = moved
        return 0
    }
}
