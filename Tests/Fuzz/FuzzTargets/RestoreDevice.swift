// The restore of any sequence of entries onto a device, and what must hold for its directory afterwards.

import BackupModel
import Glibc
import Platform
import SandboxModel
import Synchronization

@testable import DeviceLifecycle

/// A device in memory, onto which every input is restored.
final class RestoreDevice: Sendable {
    static let shared = Result { try RestoreDevice() }

    private let directory: String
    private let device: BootedDevice
    private let runs = Atomic(0)

    private init() throws {
        let directory = "/dev/shm/appcontainer-fuzz-device-\(getpid())"
        self.directory = directory
        try systemCall { unsafe mkdir(directory, 0o700) }
        try StoredDevice.create(at: directory + "/device", passcode: nil, costLevel: 1)
        device = try BootedDevice.boot(at: directory + "/device") { fatalError("restored files are corrupt: \($0)") }
        atexit { try? RestoreDevice.shared.get().remove() }
    }

    private func remove() {
        if let parent = try? Descriptor.open(path: "/dev/shm", flags: O_RDONLY | O_DIRECTORY),
            let name = FileName("appcontainer-fuzz-device-\(getpid())")
        {
            _ = try? parent.removeTree(name)
        }
    }

    /// Restores what an input says, and looks at the device.
    func restore(_ input: [UInt8]) throws {
        defer { requireHarmless() }
        var source = ChosenBackup(Choices(input))
        _ = try device.restore(from: &source, replacing: [])
    }

    /// Requires that nothing on the device gains a right, leads out of it, or is damaged.
    private func requireHarmless() {
        do {
            let root = try Descriptor.open(path: directory + "/device", flags: O_RDONLY | O_DIRECTORY)
            var directories = [SharedDescriptor(root)]
            while let directory = directories.popLast() {
                let reader = try directory.descriptor.entries()
                while let entry = try reader.next() {
                    let status = try directory.descriptor.status(of: entry.name)
                    if status.kind == .directory {
                        directories.append(SharedDescriptor(try directory.descriptor.openDirectory(entry.name)))
                    } else if status.kind == .file {
                        require(status.raw.st_mode & 0o6000 == 0, "a backing file has a set-ID bit")
                    }
                    // A device of root's keeps the owners that an archive names.
                    let isOwn = geteuid() == 0 || status.raw.st_uid == geteuid()
                    require(isOwn, "an entry belongs to somebody else")
                }
            }
            // Reads every file, so not after every run.
            guard runs.wrappingAdd(1, ordering: .relaxed).newValue % 16 == 0 else { return }
            let check = try device.check()
            require(check.problems.isEmpty, "a restored device is not whole: \(check.problems)")
        } catch {
            fatalError("the device cannot be looked at: \(error)")
        }
    }
}

/// A backup whose entries are chosen by an input.
private struct ChosenBackup: BackupSource {
    private var choices: Choices
    private var left = 32
    private var content: [UInt8] = []
    private var range: Range<Int64> = 0..<0

    let apps = [
        BackupApp(
            identifier: ChosenBackup.app, name: "Notes", version: "1", groups: [ChosenBackup.group], owner: geteuid(),
            ownerGroup: getegid())
    ]
    let groups = [ChosenBackup.group]

    private static let app = ContainerIdentifier("com.example.Notes")!
    private static let group = ContainerIdentifier("group.com.example")!

    init(_ choices: Choices) { self.choices = choices }

    mutating func next() throws(Complaint) -> BackupEntry? {
        guard !choices.isAtEnd, left > 0 else { return nil }
        left -= 1
        let kind = chooseKind()
        return BackupEntry(
            domain: choices.element(of: [.app(ChosenBackup.app), .group(ChosenBackup.group), .other("HomeDomain")]),
            path: choosePath(), kind: kind, permissions: mode_t(choices.integer() & 0o7777),
            owner: choices.element(of: [geteuid(), 0, 12345, uid_t.max]),
            group: choices.element(of: [getegid(), 0, 12345, gid_t.max]),
            modificationTime: timespec(
                tv_sec: Int(truncatingIfNeeded: choices.integer()), tv_nsec: Int(choices.integer() % 1_000_000_000)),
            protection: choices.flag() ? nil : choices.element(of: ProtectionClass.allCases),
            isExcluded: choices.flag(), attributes: chooseAttributes())
    }

    private mutating func chooseKind() -> BackupEntry.Kind {
        switch choices.number(below: 8) {
        case 0...1: return .directory
        case 2: return .symbolicLink(choices.bytes(atMost: 40))
        case 3: return .hardLink(choosePath())
        case 4: return choices.flag() ? .fifo : .socket
        case 5:
            content = choices.bytes(atMost: 200)
            let length = Int64(truncatingIfNeeded: choices.integer())
            return .file(
                .sealed(length: choices.flag() ? Int64(content.count) : length, keybag: choices.bytes(atMost: 20)))
        default:
            content = choices.bytes(atMost: 200)
            let start = Int64(choices.byte()) << Int64(choices.number(below: 16))
            range = start..<start + Int64(content.count)
            let length = range.upperBound + Int64(choices.byte())
            return .file(.plain(length: length, data: content.isEmpty ? [] : [range]))
        }
    }

    private mutating func choosePath() -> [FileName] {
        (0..<choices.number(below: 4)).compactMap { _ in
            choices.flag()
                ? choices.element(of: ["Documents", "Library", "Inbox", "Caches", "tmp", "a", "b"])
                : FileName(choices.bytes(atMost: 12))
        }
    }

    private mutating func chooseAttributes() -> [BackupEntry.Attribute] {
        (0..<choices.number(below: 3)).map { _ in
            let name = choices.element(of: ["user.x", "user.appcontainer.mode", "security.capability", "user."])
            return BackupEntry.Attribute(
                name: Array(name.utf8) + choices.bytes(atMost: 4), value: choices.bytes(atMost: 40))
        }
    }

    mutating func read(
        _ body: (_ bytes: borrowing RawSpan, _ offset: Int64) throws(Complaint) -> Void
    ) throws(Complaint) {
        guard !content.isEmpty else { return }
        let buffer = PageBuffer(count: content.count)
        buffer.copy(content, to: 0)
        let start = range.lowerBound
        try buffer.withBytes(0, count: content.count) { (bytes) throws(Complaint) in try body(bytes, start) }
    }

    mutating func verifyEnd() throws(Complaint) {}
}
