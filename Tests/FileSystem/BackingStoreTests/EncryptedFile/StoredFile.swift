// A backing file for one test, and the sessions in which it is opened.

import CHostFaults
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization

@testable import BackingStore

/// One backing file and its keys, through any number of sessions.
final class StoredFile {
    let directory: String
    let path: String
    let keys: KeyRing
    var session: UInt32 = 1
    var killed: Set<UInt32> = []
    var powerLost: Set<UInt32> = []
    var unfinished: Set<UnfinishedChange> = []
    private var times: [UInt32: SessionHistory.Time] = [:]
    private var began = HostTime.now
    let reports = Reports()

    init(named name: String = "file") throws {
        directory = "/var/tmp/appcontainer-content-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        path = directory + "/" + name
        keys = Keybag.create(passcode: nil, uidKey: UIDKey()).1
    }

    deinit {
        faults_disarm()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The context of the present session.
    private(set) lazy var context = makeContext()

    private func makeContext() -> StoreContext {
        StoreContext(
            keys: keys,
            history: SessionHistory(
                current: session, killed: killed, powerLost: powerLost, times: times, unfinished: unfinished)
        ) { [reports] corruption in reports.add(corruption) }
    }

    func create() throws -> EncryptedFile {
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
        return try EncryptedFile.create(file, protection: .standard, context: context).file
    }

    func open() throws -> EncryptedFile {
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDWR))
        return try EncryptedFile.open(file, isWritable: true, context: context)
    }

    /// Ends the session without a shutdown and begins the next.
    func kill() {
        killed.insert(session)
        beginNext()
    }

    /// Ends the session by a power cut and begins the next.
    func losePower() {
        powerLost.insert(session)
        beginNext()
    }

    /// Shuts the session down and begins the next, which knows of the files in which a write failed.
    func restart() {
        for file in context.disturbedFiles {
            unfinished.insert(
                UnfinishedChange(
                    session: session, file: file.identity, lengthIsUncertain: file.lengthIsUncertain))
        }
        beginNext()
    }

    private func beginNext() {
        let now = HostTime.now
        times[session] = HostTime(nanoseconds: began.nanoseconds - HostTime.tick)...now
        began = now
        session += 1
        context = makeContext()
    }

    var bytes: [UInt8] {
        get { [UInt8](try! Data(contentsOf: URL(filePath: path))) }
        set {
            // In place, because reports name the inode.
            let handle = FileHandle(forWritingAtPath: path)!
            try! handle.truncate(atOffset: 0)
            try! handle.write(contentsOf: Data(newValue))
            try! handle.close()
        }
    }
}

extension StoredFile {
    /// Creates another file beside the backing file.
    func create(_ protection: ProtectionClass, _ bytes: [UInt8] = [], named name: String = "file") throws
        -> EncryptedFile
    {
        let file = SharedDescriptor(
            try Descriptor.open(path: directory + "/" + name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
        let content = try EncryptedFile.create(file, protection: protection, context: context).file
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            try content.write(Array(bytes[start..<min(bytes.count, start + 1 << 20)]), at: Int64(start))
        }
        return content
    }

    func open(named name: String) throws -> EncryptedFile {
        let file = SharedDescriptor(try Descriptor.open(path: directory + "/" + name, flags: O_RDWR))
        return try EncryptedFile.open(file, isWritable: true, context: context)
    }
}

/// The reported corruptions.
final class Reports: Sendable {
    private let corruptions = Mutex<[Corruption]>([])

    var all: [Corruption] { corruptions.withLock { $0 } }

    func add(_ corruption: Corruption) {
        corruptions.withLock { $0.append(corruption) }
    }
}

extension EncryptedFile {
    func readAll(from offset: Int64 = 0, count: Int? = nil) throws -> [UInt8] {
        var result: [UInt8] = []
        let end = count.map { offset + Int64($0) } ?? length
        var position = offset
        while position < end {
            var got = 0
            try read(count: Int(min(end - position, 1 << 20)), from: position) { read in
                for index in 0..<read.segmentCount {
                    let (buffer, start, count) = read.segment(index)
                    result += buffer.bytes(start, count: count)
                    got += count
                }
            }
            if got == 0 { break }
            position += Int64(got)
        }
        return result
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        try unsafe write(bytes.span.bytes, at: offset)
    }

    /// As writeback of the kernel's cache.
    func writeFromCache(_ bytes: [UInt8], at offset: Int64) throws {
        try unsafe write(bytes.span.bytes, at: offset, for: .writtenBack, fromCache: true)
    }
}
