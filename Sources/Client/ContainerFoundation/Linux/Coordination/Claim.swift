// A claim on items of one container: a file that its process keeps locked, so that it ends with the process.

import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization

/// The first line of a claim's file. Each further line is an ``ItemMove`` that another process tells the one that
/// waits.
struct ClaimRecord: Codable, Sendable {
    let sequence: Int
    let purpose: String
    let accesses: [FileAccess]
    /// The sequences of claims that wait for one of the same purpose, which this one is part of: it does not wait for
    /// them, and they wait for it.
    let overtaken: [Int]

    /// Whether two claims cannot both hold what they are on.
    func conflicts(with other: ClaimRecord) -> Bool {
        purpose != other.purpose
            && accesses.contains { one in other.accesses.contains { one.conflicts(with: $0) } }
    }

    /// Whether this claim waits for another one: the earlier one of two that conflict goes first.
    func waits(for other: ClaimRecord) -> Bool {
        guard conflicts(with: other) else { return false }
        return other.sequence < sequence && !overtaken.contains(other.sequence) || other.overtaken.contains(sequence)
    }

    var isValid: Bool {
        sequence > 0 && sequence < 1 << 52 && accesses.allSatisfy { FileAccess.isValid($0.path) }
    }
}

/// Claims are numbered in the order in which they are made. A claim holds its items as soon as it waits for no other
/// one: earlier ones only go, so it holds them from then on.
final class Claim: Sendable {
    private struct Other {
        let name: FileName
        let record: ClaimRecord
    }

    let listener: Listener
    private let name: FileName
    private let record: ClaimRecord
    /// Locked.
    private let file: SharedDescriptor

    private static let ending = ".claim"
    /// Behind the name of a file that is not complete.
    private static let unfinished = ".new"
    /// Bytes of a claim's file.
    private static let largest = 1 << 20

    /// The claims of this process that hold their items. The lock is taken for each claim that is made or ends, so that
    /// none ends while another one relies on it.
    private static let held = Mutex<[FileName: ClaimRecord]>([:])

    /// Makes a claim. The caller has the lock of the meeting directory.
    init(on accesses: [FileAccess], for purpose: String, at listener: Listener) throws(SystemError) {
        self.listener = listener
        let meeting = listener.meeting
        let name = FileName("\(listener.identifier).\(Entropy.bytes(4).hexadecimal)\(Claim.ending)")!
        let made = try Claim.held.withLock { held throws(SystemError) -> (ClaimRecord, SharedDescriptor) in
            Claim.removeUnfinished(in: meeting)
            let others = try Claim.others(in: meeting)
            let record = ClaimRecord(
                sequence: (others.map(\.record.sequence).max() ?? 0) + 1, purpose: purpose, accesses: accesses,
                overtaken: others.map(\.record).filter { other in
                    held.values.contains { $0.purpose == purpose && other.waits(for: $0) }
                }.map(\.sequence))
            return (record, try Claim.publish(record, as: name, in: meeting))
        }
        self.name = name
        (record, file) = made
    }

    /// The file has its name when it is locked and complete.
    private static func publish(
        _ record: ClaimRecord, as name: FileName, in meeting: MeetingDirectory
    ) throws(SystemError) -> SharedDescriptor {
        guard let line = try? Array(JSONEncoder().encode(record)) + [UInt8(ascii: "\n")], line.count < largest else {
            throw .range
        }
        let new = FileName(name.text + unfinished)!
        let file = SharedDescriptor(try meeting.makeFile(new))
        do throws(SystemError) {
            guard try file.descriptor.tryLock() else { throw .busy }
            try file.descriptor.append(line)
            try meeting.directory.rename(new, to: name, in: meeting.directory, mode: .keeping)
        } catch {
            try? meeting.directory.removeFile(new)
            throw error
        }
        return file
    }

    /// Files of processes that were killed while they made them. Nobody makes one now.
    private static func removeUnfinished(in meeting: MeetingDirectory) {
        for name in (try? meeting.names(endingWith: unfinished)) ?? [] {
            guard let file = meeting.file(name, flags: O_RDONLY), (try? file.descriptor.tryLock()) == true else {
                continue
            }
            try? meeting.directory.removeFile(name)
        }
    }

    /// All claims of processes that live. Those of others are removed.
    private static func others(in meeting: MeetingDirectory) throws(SystemError) -> [Other] {
        try meeting.names(endingWith: ending).compactMap { name in
            guard let file = meeting.file(name, flags: O_RDONLY) else { return nil }
            if (try? file.descriptor.tryLock()) == true {
                // A process that lives removes the name first.
                for ending in ["", Listener.claiming, Listener.presenting] {
                    let left = ending.isEmpty ? name : FileName(process(of: name) + ending)
                    if let left { try? meeting.directory.removeFile(left) }
                }
                return nil
            }
            // Not JSON, or no claim: somebody else's file.
            guard let bytes = try? file.descriptor.readToEnd(limit: largest),
                let line = bytes.split(separator: 0x0A).first,
                let record = try? JSONDecoder().decode(ClaimRecord.self, from: Data(line)), record.isValid
            else { return nil }
            return Other(name: name, record: record)
        }
    }

    // MARK: Waiting

    /// A claim that this one waits for; nil if it holds its items.
    func blocker() throws(SystemError) -> FileName? {
        let blocker = try Claim.others(in: listener.meeting).first { $0.name != name && record.waits(for: $0.record) }
        if let blocker { return blocker.name }
        Claim.held.withLock { $0[name] = record }
        return nil
    }

    /// The identifier of the listener of a claim's process.
    static func process(of claim: FileName) -> String { String(claim.text.prefix { $0 != "." }) }

    /// Moves of this claim's items that others have told meanwhile.
    func moves() -> [ItemMove] {
        guard let bytes = try? HostPath.contents("/proc/self/fd/\(file.descriptor.number)", limit: Claim.largest) else {
            return []
        }
        return bytes.split(separator: 0x0A).dropFirst().compactMap { line in
            let move = try? JSONDecoder().decode(ItemMove.self, from: Data(line))
            return move.flatMap { $0.isValid ? $0 : nil }
        }
    }

    /// Tells the claims that wait for this one where an item is now.
    func tell(_ move: ItemMove) {
        guard let line = try? Array(JSONEncoder().encode(move)) + [UInt8(ascii: "\n")] else { return }
        let meeting = listener.meeting
        for other in (try? Claim.others(in: meeting)) ?? [] where other.record.waits(for: record) {
            guard let file = meeting.file(other.name, flags: O_WRONLY | O_APPEND),
                let size = try? file.descriptor.status().size, size < Claim.largest / 2
            else { continue }
            try? file.descriptor.append(line)
        }
    }

    func end() {
        Claim.held.withLock { held in
            held[name] = nil
            try? listener.meeting.directory.removeFile(name)
            try? file.descriptor.unlock()
        }
    }
}
