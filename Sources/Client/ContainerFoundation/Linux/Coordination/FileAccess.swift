// One item that a coordinator reads or writes, and whether it keeps another access waiting.

import Foundation
import Platform

struct FileAccess: Codable, Hashable, Sendable {
    enum Kind: String, Codable {
        case read, write
    }

    let kind: Kind
    /// Relative to the container; empty for the container itself.
    var path: String
    /// The raw value of the reading or writing options.
    let options: UInt

    init(_ kind: Kind, _ path: String, options: UInt = 0) {
        self.kind = kind
        self.path = path
        self.options = options
    }

    var reading: NSFileCoordinator.ReadingOptions {
        NSFileCoordinator.ReadingOptions(rawValue: kind == .read ? options : 0)
    }

    var writing: NSFileCoordinator.WritingOptions {
        NSFileCoordinator.WritingOptions(rawValue: kind == .write ? options : 0)
    }

    /// Whether the item may be gone or another one afterwards, with all that it contains.
    var isOfWholeItem: Bool { !writing.isDisjoint(with: [.forDeleting, .forMoving, .forReplacing]) }

    /// Whether the item may be deleted, or lose its place to another one.
    var deletes: Bool { !writing.isDisjoint(with: [.forDeleting, .forReplacing]) }

    /// Whether one of the two has to wait for the other. Writing a directory does not keep its content waiting, unless
    /// the directory is deleted, moved or replaced.
    func conflicts(with other: FileAccess) -> Bool {
        guard kind == .write || other.kind == .write else { return false }
        if path == other.path { return true }
        return isOfWholeItem && FileAccess.contains(path, other.path)
            || other.isOfWholeItem && FileAccess.contains(other.path, path)
    }

    /// Whether a path lies below another one.
    static func contains(_ directory: String, _ path: String) -> Bool {
        directory.isEmpty ? !path.isEmpty : HostPath.lies(path, below: directory)
    }

    /// The path of an item below a directory that was moved; the directory itself included.
    /// - Returns: nil for another item, and for a path that no item can have: moves may be told that were never made.
    static func path(_ path: String, afterMoveOf old: String, to new: String) -> String? {
        guard let rest = HostPath.rest(of: path, in: old) else { return nil }
        let moved = rest.isEmpty ? new : "\(new)/\(rest)"
        return moved.utf8.count <= longestPath ? moved : nil
    }

    /// Goes where another access has moved the item, unless this one replaces whatever is at its path.
    /// - Returns: whether the path is another one now.
    mutating func follow(_ move: ItemMove) -> Bool {
        guard let to = move.to, !writing.contains(.forReplacing),
            let new = FileAccess.path(path, afterMoveOf: move.from, to: to), new != path
        else { return false }
        path = new
        return true
    }

    /// Whether a move is of the item, of a directory that it is in, or of an item in it.
    func isConcerned(by move: ItemMove) -> Bool {
        path == move.from || FileAccess.contains(move.from, path) || FileAccess.contains(path, move.from)
    }

    /// Bytes of a path: those of PATH_MAX.
    private static let longestPath = 4096

    /// Whether another process may have sent such a path: relative, and without a way out of the container.
    static func isValid(_ path: String) -> Bool {
        guard !path.isEmpty else { return true }
        return path.utf8.count <= longestPath && !path.utf8.contains(0)
            && HostPath.parts(of: path).allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }
}

/// An item that has another path now. Paths are relative to the container.
struct ItemMove: Codable, Hashable, Sendable {
    let from: String
    /// nil if it has left the container.
    let to: String?

    var isValid: Bool { FileAccess.isValid(from) && FileAccess.isValid(to ?? "") && to != "" && from != "" }
}
