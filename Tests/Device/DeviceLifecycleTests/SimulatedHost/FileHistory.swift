// The contents that a file had, the moments at which they were promised to be durable, and what may be found of them.

import BackingStore
import Foundation
import Platform
import SandboxModel
import TestSupport

@testable import DeviceLifecycle

/// The contents of one path through a workload, each from a named moment on.
struct FileHistory {
    struct Version {
        let moment: Int
        /// nil where there is no file.
        let content: [UInt8]?
        /// The bytes that the change wrote, besides those that differ from the version before.
        let written: Range<Int>
    }

    private(set) var versions = [Version(moment: 0, content: nil, written: 0..<0)]
    /// From which moment on which version is durable.
    private var promises: [(moment: Int, version: Int)] = [(0, 0)]

    var present: [UInt8]? { versions.last!.content }

    /// Called before the change is made.
    mutating func change(to content: [UInt8]?, written: Range<Int> = 0..<0, at moment: Int) {
        versions.append(Version(moment: moment, content: content, written: written))
    }

    /// Called when a synchronization has returned.
    mutating func promise(at moment: Int) { promises.append((moment, versions.count - 1)) }

    /// The flaws of the file that was found, in words.
    /// - Parameters:
    ///   - read: reads a range, and gives nil where that is EIO.
    ///   - isReported: whether a check names the file.
    func problems(
        _ path: String, at moment: Int, length: Int?, isReported: Bool, _ read: (Range<Int>) throws -> [UInt8]?
    ) throws -> [String] {
        let first = promises.last { $0.moment <= moment }!.version
        let possible = versions[first...].filter { $0.moment <= moment }
        guard let length else { return possible.contains { $0.content == nil } ? [] : ["\(path) is missing"] }
        let contents = possible.compactMap(\.content)
        guard !contents.isEmpty else { return ["\(path) is there, and was removed"] }
        let mayBeNew = possible.contains { $0.content == nil }
        let lengths = contents.map(\.count)
        guard (mayBeNew ? 0 : lengths.min()!)...lengths.max()! ~= length else { return ["\(path) has \(length) bytes"] }
        var isDamaged = false
        for start in stride(from: 0, to: length, by: HostPage.size) {
            let range = start..<min(start + HostPage.size, length)
            let blocks = contents.map { content in
                var block = [UInt8](repeating: 0, count: range.count)
                if start < content.count {
                    block.overwrite(from: 0, with: content, start..<min(range.upperBound, content.count))
                }
                return block
            }
            if let found = try read(range) {
                let isZero = mayBeNew && found.allSatisfy { $0 == 0 }
                guard isZero || blocks.contains(found) else { return ["\(path), block at \(start) has other bytes"] }
                continue
            }
            isDamaged = true
            let end = start + HostPage.size
            let isChanging =
                mayBeNew || Set(blocks).count > 1 || lengths.contains { $0 != lengths.max()! && $0 < end }
                || possible.dropFirst().contains { $0.written.overlaps(range) }
            guard isChanging else { return ["\(path), block at \(start) is lost"] }
        }
        return isDamaged && !isReported ? ["\(path) is damaged, and the check does not say so"] : []
    }
}

extension EncryptedFile {
    /// A range; nil where a block of it gives EIO.
    func bytes(in range: Range<Int>) throws -> [UInt8]? {
        do {
            return try readAll(range)
        } catch let fault as Fault {
            guard fault == .corrupt || fault == .system(.inputOutput) else { throw fault }
            return nil
        }
    }

    private func readAll(_ range: Range<Int>) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let before = bytes.count
            try read(count: range.count - before, from: Int64(range.lowerBound + before)) { result in
                for index in 0..<result.segmentCount {
                    let (buffer, offset, count) = result.segment(index)
                    bytes += buffer.bytes(offset, count: count)
                }
            }
            guard bytes.count > before else { break }
        }
        return bytes
    }
}
