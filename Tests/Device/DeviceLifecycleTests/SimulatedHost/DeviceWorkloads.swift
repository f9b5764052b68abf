// Operations on a device that happen wholly or not at all, and are there when their call has returned.

import BackingStore
import BackupModel
import ContainerVolume
import Foundation
import Glibc
import Platform
import Purging
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

extension SimulatedHost {
    private static let notes = id("com.example.Notes")

    /// All that the devices of a host hold for their users, a line for each thing.
    static func holdings(_ remains: Remains) throws -> Set<String> {
        var lines: Set<String> = []
        for name in ["device", "copy"] {
            guard let (device, check) = try remains.boot(name) else { continue }
            guard check.problems.isEmpty else { throw Flaw(lines: check.problems.map { "\($0)" }) }
            lines.insert("\(name), keys \(try HostPath.contents("\(remains.path)/\(name)/UID.key").hashValue)")
            for record in ["Events.jsonl", "Passcode.json", "PasswordKeybag"]
            where try device.directory.root.exists(FileName(record)!) {
                lines.insert("\(name): \(record)")
            }
            for app in device.apps {
                lines.insert("\(name): \(app.identifier) \(app.version)")
                let shared = (app.groups + app.iCloud).map(\.identifier)
                for place in [.data] + shared.map(BackingPlace.shared) {
                    let top = try device.backingPath(of: app.identifier, place)
                    for path in try FileManager.default.subpathsOfDirectory(atPath: top)
                    where try HostPath.status("\(top)/\(path)", following: false).kind == .file {
                        let content = try device.content(of: "\(top)/\(path)")
                        lines.insert(
                            "\(name): \(app.identifier) \(place) \(path) \(content.count) \(content.hashValue)")
                    }
                }
            }
        }
        return lines
    }

    struct Flaw: Error, CustomStringConvertible {
        let lines: [String]
        var description: String { lines.joined(separator: "; ") }
    }

    /// Records an operation.
    /// - Parameters:
    ///   - prepare: makes the device.
    ///   - inParts: whether things may go one by one.
    private static func record<Device>(
        _ name: String, inParts: Bool = false, _ prepare: (Scratch) throws -> Device,
        _ body: (Scratch, Device) throws -> Void
    ) throws -> SimulatedHost {
        let scratch = Scratch(under: HostTree.place)
        let device = try prepare(scratch)
        let trace = try HostTrace(of: scratch.path) {
            try body(scratch, device)
            HostTrace.mark(1)
        }
        let before = try with(trace.before, holdings)
        let after = try with(trace.after, holdings)
        let host = SimulatedHost(name: name, trace: trace) { remains, passed in
            let found = try SimulatedHost.holdings(remains)
            if found == after || passed == 0 && found == before { return [] }
            if inParts, found.isSuperset(of: after), found.isSubset(of: before) { return [] }
            let strange = found.subtracting(passed == 0 ? before.union(after) : after)
            return ["neither before nor after: \(strange.sorted()), lacks \(after.subtracting(found).sorted())"]
        }
        try host.requireComplete(scratch.path)
        return host
    }

    /// A device with an app that has a file of its own in each container.
    static func installed(_ scratch: Scratch) throws -> BootedDevice {
        let device = try scratch.makeDevice()
        _ = try device.install(sampleApp, groups: [id("group.a")])
        for (path, place) in [
            ("Documents/note", BackingPlace.data), ("Library/Caches/cached", .data), ("tmp/passing", .data),
            ("shared", .shared(id("group.a"))),
        ] {
            try device.writeEncrypted(
                device.backingPath(of: notes, place) + "/" + path, Array("\(path) of the app".utf8),
                protection: .standard, length: nil)
        }
        return device
    }

    static func later(_ scratch: Scratch) throws -> String {
        try scratch.makeApp(
            "Later", identifier: "com.example.Notes", "rm -rf _CodeSignature; sed -i 's/1\\.2/1.3/' Info.plist")
    }

    /// A device whose process was killed at a step of an update.
    private static func interrupted(_ scratch: Scratch, at step: Milestone) throws {
        let (path, copy) = (scratch.device, scratch["copied"])
        do {
            let device = try installed(scratch)
            try device.shutDown()
        }
        do {
            let device = try scratch.boot { milestone in
                if milestone == step { _ = try? shell("[ -e '\(copy)' ] || cp -a '\(path)' '\(copy)'") }
            }
            _ = try device.install(try later(scratch))
        }
        try shell("rm -rf '\(path)' && mv '\(copy)' '\(path)'")
    }

    // MARK: The operations

    static let operations: [(String, @Sendable () throws -> SimulatedHost)] = [
        (
            "erase",
            {
                try record("erase") { scratch in
                    let device = try installed(scratch)
                    try shell("echo '{}' > '\(scratch.device)/Events.jsonl'")
                    try device.shutDown()
                    device.release()
                } _: { scratch, _ in
                    try StoredDevice.erase(scratch.device)
                }
            }
        ),
        (
            "install",
            {
                try record("install") {
                    try $0.makeDevice()
                } _: { _, device in
                    _ = try device.install(sampleApp, groups: [id("group.a")], iCloud: [id("iCloud.a")])
                }
            }
        ),
        (
            "update",
            {
                try record("update") {
                    (try installed($0), try later($0))
                } _: { _, prepared in
                    _ = try prepared.0.install(prepared.1, groups: [id("group.b")])
                }
            }
        ),
        (
            "refused update",
            {
                try record("refused update") { scratch in
                    let prepared = (try installed(scratch), try later(scratch))
                    try shell("mkdir -p '\(scratch.device)/.Apps.json.new/x'")
                    return prepared
                } _: { _, prepared in
                    #expect(complaint { _ = try prepared.0.install(prepared.1) } != nil)
                }
            }
        ),
        (
            "the boot after an interrupted update",
            {
                try record("the boot after an interrupted update") {
                    try interrupted($0, at: .exchangedOne)
                } _: { scratch, _ in
                    try scratch.boot().release()
                }
            }
        ),
        (
            "the boot after an undecided update",
            {
                try record("the boot after an undecided update") {
                    try interrupted($0, at: .laidReady)
                } _: { scratch, _ in
                    try scratch.boot().release()
                }
            }
        ),
        ("uninstall", { try record("uninstall", installed) { _, device in try device.uninstall(notes) } }),
        ("reset", { try record("reset", installed) { _, device in try device.reset(notes) } }),
        (
            "delivery",
            {
                try record("delivery") { scratch in
                    try shell("echo mail > '\(scratch["mail.txt"])'")
                    return try installed(scratch)
                } _: { scratch, device in
                    _ = try device.deliver([scratch["mail.txt"]], to: notes)
                }
            }
        ),
        (
            "restore",
            {
                try record("restore") { scratch in
                    let device = try installed(scratch)
                    let backup = MemoryBackup()
                    backup.apps = try device.backupApps(nil)
                    var sink = backup.sink
                    _ = try device.backUp(BackupOrder(), into: &sink)
                    let note = try device.backingPath(of: notes, .data) + "/Documents/note"
                    try HostPath.removeFile(note)
                    try device.writeEncrypted(note, Array("later".utf8), protection: .standard, length: nil)
                    return (device, backup)
                } _: { _, prepared in
                    var source = prepared.1.source
                    _ = try prepared.0.restore(from: &source, replacing: [notes])
                }
            }
        ),
        (
            "purge",
            {
                try record("purge", inParts: true, installed) { _, device in
                    let purger = Purger(device, in: QuietEnvironment())
                    try purger.start()
                    defer { purger.stop() }
                    #expect(purger.purge(PurgeOrder(.everything)) { _ in true }?.purged.count == 2)
                }
            }
        ),
        (
            "forget wrong passcodes",
            {
                try record("forget wrong passcodes") { scratch in
                    let device = try scratch.makeDevice()
                    try device.directory.replacePasscodeAttempts(
                        with: PasscodeAttempts(wrong: 2, at: HostInstant.now()), holding: device.lock)
                    return device
                } _: { _, device in
                    try device.directory.clearPasscodeAttempts(holding: device.lock, durably: true)
                }
            }
        ),
        (
            "remove the backup password",
            {
                try record("remove the backup password") { scratch in
                    let device = try scratch.makeDevice()
                    try device.backupPassword.set(Array("old".utf8))
                    return device
                } _: { _, device in
                    try device.backupPassword.remove(Array("old".utf8))
                }
            }
        ),
        (
            "create",
            {
                try record("create") { _ in
                } _: { scratch, _ in
                    try StoredDevice.create(at: scratch.device, passcode: nil, costLevel: 1)
                }
            }
        ),
        (
            "clone",
            {
                try record("clone") { scratch in
                    let device = try installed(scratch)
                    try device.shutDown()
                    device.release()
                } _: { scratch, _ in
                    try StoredDevice.clone(scratch.device, to: scratch["copy"])
                }
            }
        ),
    ]
}

/// A process in which nothing is mounted.
private struct QuietEnvironment: PurgeEnvironment {
    var runningApps: Set<ContainerIdentifier> { [] }
    func isRunning(_ app: ContainerIdentifier) -> Bool { false }
    func whileIdle<Result>(_ app: ContainerIdentifier, _ body: () -> Result) -> Result? { body() }
    func volume(of app: ContainerIdentifier) -> Volume? { nil }
    func record(_ purged: [PurgeOutcome.Purged]) {}
    func record(_ disobeyed: [PurgeOutcome.Disobeyed]) {}
    func logTrashFailure(_ error: SystemError) { Issue.record("the trash: \(error.message)") }
}
