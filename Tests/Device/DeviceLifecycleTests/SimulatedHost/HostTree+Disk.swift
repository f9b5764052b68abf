// A simulated host's files on a real one: read to begin with, and laid out for the store to open.

import DataProtection
import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport

@testable import BackingStore

extension HostTree {
    /// In memory where the host allows it: each state is thrown away.
    static let place = HostPath.isWritable("/dev/shm") ? "/dev/shm" : "/var/tmp"

    /// Reads a directory.
    /// - Returns: the tree, and the number of each inode's node.
    static func read(_ path: String) throws -> (HostTree, [UInt64: Int]) {
        var tree = HostTree()
        var numbers: [UInt64: Int] = [:]
        let top = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
        let status = try top.status()
        tree.nodes[root] = HostNode(mode: status.raw.st_mode)
        numbers[status.inode] = root
        var pending: [(Int, [FileName])] = [(root, [])]
        while let (number, path) = pending.popLast() {
            let directory = try top.openDirectory(at: path)
            for name in try directory.names(where: { _ in true }) {
                let status = try directory.status(of: name)
                if let known = numbers[status.inode] {
                    tree.nodes[number]!.entries[name.text] = known
                    continue
                }
                let child = tree.nodes.count
                numbers[status.inode] = child
                tree.nodes[child] = try node(name, in: directory, status)
                tree.nodes[number]!.entries[name.text] = child
                if status.kind == .directory { pending.append((child, path + [name])) }
            }
        }
        return (tree, numbers)
    }

    private static func node(
        _ name: FileName, in directory: borrowing Descriptor, _ status: FileStatus
    ) throws -> HostNode {
        var node = HostNode(mode: status.raw.st_mode)
        if status.kind == .symbolicLink { node.target = try directory.symbolicLinkTarget(name) }
        if status.kind == .file {
            let bytes = try directory.open(name, flags: O_RDONLY).readAll(limit: 1 << 30)
            node.length = bytes.count
            for start in stride(from: 0, to: bytes.count, by: HostPage.size) {
                var page = HostPage.zeros
                page.overwrite(from: 0, with: bytes, start..<min(start + HostPage.size, bytes.count))
                if page != HostPage.zeros { node.pages[start / HostPage.size] = HostPage(page) }
            }
        }
        guard status.kind == .file || status.kind == .directory else { return node }
        let holder = AttributeHolder(name, in: directory)
        for attribute in try holder.names() {
            let text = String(decoding: attribute, as: UTF8.self)
            if text.hasPrefix("user.") { node.attributes[text] = try holder.value(of: attribute) }
        }
        return node
    }

    /// Lays the tree out in a directory that is made for it.
    /// - Parameter booted: the host has come up again, so its boot has another identifier than the sessions name.
    func write(to path: String, bootIdentifier booted: String) throws {
        try HostPath.makeDirectory(path, mode: 0o700)
        var places: [Int: String] = [:]
        var pending = [(path, HostTree.root)]
        var modes: [(String, UInt32)] = []
        while let (path, number) = pending.popLast() {
            let directory = try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
            for (name, child) in nodes[number]!.entries {
                let place = "\(path)/\(name)"
                guard let node = nodes[child] else { continue }
                if let former = places[child] {
                    try systemCall { unsafe Glibc.link(former, place) }
                    continue
                }
                places[child] = place
                try make(FileName(name)!, in: directory, node)
                if name == DeviceDirectory.Name.sessions.text { try boot(directory, of: nodes[number]!, booted) }
                guard node.mode & S_IFMT != S_IFLNK else { continue }
                modes.append((place, node.mode & 0o7777))
                if node.isDirectory { pending.append((place, child)) }
            }
        }
        for (place, mode) in modes.reversed() { try HostPath.changeMode(of: place, to: mode) }
    }

    /// Has the sessions of a device name an earlier boot of the host, under a code of the device. A record that the
    /// device would not believe stays as it is.
    private func boot(_ directory: borrowing Descriptor, of device: HostNode, _ booted: String) throws {
        let name = DeviceDirectory.Name.sessions
        guard let key = content(of: DeviceDirectory.Name.uidKey, in: device).flatMap({ UIDKey($0) }),
            let record = content(of: DeviceDirectory.Name.record, in: device),
            let uuid = String(decoding: record, as: UTF8.self).firstMatch(of: /"uuid" : "([-0-9A-F]+)"/)?.1
        else { return }
        let authentication = RecordAuthentication(key, device: String(uuid), isRequired: true)
        guard let stored = content(of: name, in: device), let content = authentication.content(of: stored, name)
        else { return }
        let earlier = String(decoding: content, as: UTF8.self).replacing(booted, with: HostTree.earlier)
        let bytes = authentication.sealed(Array(earlier.utf8), name)
        let file = try directory.open(name, flags: O_RDWR | O_TRUNC)
        try unsafe file.write(bytes.span.bytes, to: 0)
    }

    /// The content of a file in a directory; nil if there is none.
    private func content(of name: FileName, in directory: HostNode) -> [UInt8]? {
        guard let number = directory.entries[name.text], let node = nodes[number] else { return nil }
        var bytes = [UInt8](repeating: 0, count: node.length)
        for (index, page) in node.pages where index * HostPage.size < node.length {
            let range = index * HostPage.size..<min(node.length, (index + 1) * HostPage.size)
            bytes.replaceSubrange(range, with: page.bytes.prefix(range.count))
        }
        return bytes
    }

    private func make(_ name: FileName, in directory: borrowing Descriptor, _ node: HostNode) throws {
        switch node.mode & S_IFMT {
        case S_IFDIR: try directory.makeDirectory(name, mode: 0o700)
        case S_IFLNK: try directory.makeSymbolicLink(name, target: node.target)
        case S_IFREG:
            let file = try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try file.truncate(to: Int64(node.length))
            for (index, page) in node.pages where index * HostPage.size < node.length {
                let start = index * HostPage.size
                let bytes = Array(page.bytes.prefix(node.length - start))
                try unsafe file.write(bytes.span.bytes, to: Int64(start))
            }
        default: try directory.makeNode(name, mode: node.mode)
        }
        for (attribute, value) in node.attributes {
            try AttributeHolder(name, in: directory).set(Array(attribute.utf8), to: value)
        }
    }

    private static let earlier = "00000000-0000-0000-0000-000000000000"
}
