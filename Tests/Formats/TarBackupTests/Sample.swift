// Backups for tests: entries with their content, written, read, and as text.

import BackupModel
import Foundation
import Glibc
import Platform
import SandboxModel
import TarBackup
import TestSupport
import Testing

/// An entry with its content, without holes.
struct Sample {
    var entry: BackupEntry
    var data: [UInt8] = []

    /// - Parameter path: the path with its domain.
    static func make(_ path: String, _ kind: BackupEntry.Kind, data: [UInt8] = []) -> Sample {
        make(Array(path.utf8), kind, data: data)
    }

    static func make(_ path: [UInt8], _ kind: BackupEntry.Kind, data: [UInt8] = []) -> Sample {
        let parts = path.split(separator: UInt8(ascii: "/"))
        let isDirectory = kind == .directory
        return Sample(
            entry: BackupEntry(
                domain: BackupDomain(name: String(decoding: parts[0], as: UTF8.self)),
                path: parts.dropFirst().map { FileName($0)! }, kind: kind, permissions: isDirectory ? 0o755 : 0o644,
                owner: 501, group: 502, modificationTime: timespec(tv_sec: 1_700_000_000, tv_nsec: 123_456_789),
                protection: isDirectory || kind.isFile ? .standard : nil, isExcluded: false, attributes: []),
            data: data
        ).with { if isDirectory { $0.entry.protection = nil } }
    }

    static func directory(_ path: String) -> Sample { make(path, .directory) }

    static func file(_ path: String, _ content: [UInt8]) -> Sample {
        make(path, .file(.plain(length: Int64(content.count), data: content.ranges)), data: content)
    }

    static func file(_ path: String, _ content: String) -> Sample { file(path, Array(content.utf8)) }

    static func sparse(_ path: String, length: Int64, _ data: [Range<Int64>], _ bytes: [UInt8]) -> Sample {
        make(path, .file(.plain(length: length, data: data)), data: bytes)
    }

    func with(_ change: (inout Sample) -> Void) -> Sample {
        var sample = self
        change(&sample)
        return sample
    }

    var path: String { ([FileName(entry.domain.name)!] + entry.path).text }

    /// The content with its holes.
    var content: [UInt8] {
        guard case .file(.plain(let length, let ranges)) = entry.kind else { return data }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        var start = 0
        for range in ranges {
            bytes.overwrite(from: Int(range.lowerBound), with: data, start..<(start + range.count))
            start += range.count
        }
        return bytes
    }

    /// Everything that a backup keeps of the entry, as text.
    var text: String {
        let time = entry.modificationTime
        var parts = [
            path, "\(entry.kind)", String(entry.permissions, radix: 8), "\(entry.owner):\(entry.group)",
            "\(time.tv_sec).\(time.tv_nsec)", entry.protection.map { "\($0)" } ?? "-",
            entry.isExcluded ? "excluded" : "",
        ]
        parts += entry.path.map { Data($0.bytes).base64EncodedString() }
        parts += entry.attributes.map {
            "\(Data($0.name).base64EncodedString())=\(Data($0.value).base64EncodedString())"
        }
        return parts.joined(separator: " ") + " " + Data(data).base64EncodedString()
    }
}

extension BackupEntry.Kind {
    var isFile: Bool { if case .file = self { true } else { false } }
}

extension [UInt8] {
    fileprivate var ranges: [Range<Int64>] { isEmpty ? [] : [0..<Int64(count)] }
}

let notes = BackupApp(
    identifier: ContainerIdentifier("com.example.Notes")!, name: "Notes", version: "1.2",
    groups: [ContainerIdentifier("group.com.example")!], owner: 501, ownerGroup: 502)

let home = "AppDomain-com.example.Notes"
let shared = "AppDomainGroup-group.com.example"

/// A usual container.
let plain: [Sample] = [
    .directory(home),
    .directory("\(home)/Documents"),
    .file("\(home)/Documents/a.txt", "alpha\n"),
    .make("\(home)/Documents/again", .hardLink(["Documents", "a.txt"])),
    .directory("\(home)/Documents/deep"),
    .file("\(home)/Documents/deep/b", [UInt8](repeating: 7, count: 1000)),
    .make("\(home)/Documents/link", .symbolicLink(Array("../Library/x".utf8))),
    .directory("\(home)/Library"),
    .directory(shared),
    .file("\(shared)/empty", ""),
]

/// Gives entries to a sink in the order of a walk, with content in pieces.
func write(
    _ samples: [Sample], to path: String, since base: String? = nil, apps: [BackupApp] = [notes]
) throws(Complaint) {
    let sink = try TarBackupSink(path: path, apps: apps, since: base)
    for sample in samples {
        if base != nil {
            func content() throws(Complaint) -> [UInt8]? { digest(of: sample.content) }
            let kept = try sink.continues(sample.entry, goOn: { true }, digest: content)
            if kept { continue }
        }
        try sink.begin(sample.entry)
        try give(sample, to: sink)
    }
    try sink.finish()
}

private func give(_ sample: Sample, to sink: TarBackupSink) throws(Complaint) {
    var start = 0
    for range in sample.entry.kind.data {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(range.upperBound - position, 300_000))
            let piece = Array(sample.data[start..<(start + count)])
            try piece.withSpan { bytes throws(Complaint) in try sink.write(bytes, at: position) }
            start += count
            position += Int64(count)
        }
    }
}

extension BackupEntry.Kind {
    var data: [Range<Int64>] {
        switch self {
        case .file(.plain(_, let data)): data
        case .file(.sealed(let length, _)): [0..<length]
        default: []
        }
    }
}

/// All entries of a backup, which is verified.
func read(
    _ path: String, base: String? = nil, scratch: String = "/var/tmp",
    wants: @escaping (BackupDomain) -> Bool = { _ in true }
) throws(Complaint) -> [Sample] {
    let source = try TarBackupSource(path: path, base: base, scratch: scratch, wants: wants)
    var samples: [Sample] = []
    while let entry = try source.next() {
        var data: [UInt8] = []
        try source.read { bytes, _ throws(Complaint) in
            unsafe bytes.withUnsafeBytes { unsafe data += $0 }
        }
        samples.append(Sample(entry: entry, data: data))
    }
    try source.verifyEnd()
    return samples
}

/// SHA-256 as `sha256sum` computes it.
func digest(of bytes: [UInt8]) -> [UInt8] {
    let scratch = Scratch()
    try! Data(bytes).write(to: URL(filePath: scratch["content"]))
    let text = try! shell("sha256sum '\(scratch["content"])'").prefix(64)
    return stride(from: 0, to: 64, by: 2).map { index in
        let start = text.index(text.startIndex, offsetBy: index)
        return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16)!
    }
}

func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

func put(_ bytes: [UInt8], at path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }
