// A device in a fresh directory of the host for one test, and tools to look at what lies in it.

import BackingStore
import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import DeviceLifecycle

extension Scratch {
    var device: String { self["device"] }

    /// A new device, booted.
    func makeDevice(passcode: String? = nil) throws -> BootedDevice {
        try StoredDevice.create(at: device, passcode: passcode.map { Array($0.utf8) }, costLevel: 1)
        return try boot()
    }

    func boot(reached: @escaping @Sendable (Milestone) -> Void = { _ in }) throws -> BootedDevice {
        try BootedDevice.boot(at: device, report: { Issue.record("corrupt: \($0)") }, reached: reached)
    }

    /// A copy of the sample app, changed by a shell script that runs in it.
    func makeApp(
        _ name: String = "Notes", identifier: String = "com.example.Notes", _ script: String = "true"
    ) throws -> String {
        let app = self["\(name).app"]
        try shell(
            """
            set -e; cp -r '\(sampleApp)' '\(app)'; cd '\(app)'
            sed -i 's/com.example.Notes/\(identifier)/' Info.plist; \(script)
            """)
        return app
    }

    /// Every entry of the device's containers and staging directory, by kind and depth, without the UUIDs.
    var containers: [String] {
        let text = try! shell(
            """
            cd '\(device)' && find Staging Containers -mindepth 1 -printf '%P\\n' \
            | sed -E 's/[0-9A-F]{8}-[-0-9A-F]{27}/UUID/' | LC_ALL=C sort
            """)
        return text.split(separator: "\n").map(String.init)
    }
}

let sampleApp = Checkout.notesApp

func id(_ text: String) -> ContainerIdentifier { ContainerIdentifier(text)! }

let isRoot = geteuid() == 0

extension BootedDevice {
    /// Takes an app in and installs or updates it, where nobody shows it.
    func install(
        _ path: String, groups: [ContainerIdentifier] = [], iCloud: [ContainerIdentifier] = [],
        owner: ContainerOwner? = nil
    ) throws(Complaint) -> InstalledApp {
        let staged = try stage(path, admit: { (app) throws(Complaint) in try requireOwner(owner, of: app) })
        defer { discard(staged) }
        return try install(staged, groups: groups, iCloud: iCloud, owner: owner)
    }

    func install(_ path: String) throws(Complaint) -> InstalledApp { try install(path, owner: nil) }

    /// The same, for tests of the seal and of progress.
    func install(
        _ path: String, demands: SealDemands = SealDemands(), notice: (String) -> Void = { _ in },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> InstalledApp {
        let staged = try stage(path, demands: demands, progress: progress)
        defer { discard(staged) }
        let app = try install(staged)
        staged.notices.forEach(notice)
        return app
    }

    /// Makes an encrypted file at a path of the host.
    func writeEncrypted(
        _ path: String, _ content: [UInt8], protection: ProtectionClass, length: Int64?, at offset: Int64 = 0
    ) throws {
        let place = URL(filePath: path)
        let parent = try Descriptor.open(
            path: place.deletingLastPathComponent().path, flags: O_RDONLY | O_DIRECTORY)
        let file = NewFile(FileName(place.lastPathComponent)!, mode: 0o640, owner: .current, protection: protection)
        try file.write(in: parent, context: context) { (file) throws(Fault) in
            let buffer = PageBuffer(count: content.count)
            buffer.copy(content[...], to: 0)
            for start in stride(from: 0, to: content.count, by: 1 << 20) {
                let count = min(content.count - start, 1 << 20)
                try buffer.withBytes(start, count: count) { (bytes) throws(Fault) in
                    _ = try file.write(bytes, at: offset + Int64(start))
                }
            }
            if let length { try file.truncate(to: length) }
        }
    }

    /// Unlocks the device as its process does, which sees to the mounts in between.
    func open(_ passcode: String) throws {
        try self.passcode.unlock(Array(passcode.utf8))
        becomeUnlocked()
    }

    /// The content of a file in a container, opened.
    func content(of path: String) throws -> [UInt8] {
        let file = SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY))
        let content = try EncryptedFile.open(file, isWritable: false, context: context)
        var bytes: [UInt8] = []
        while Int64(bytes.count) < content.length {
            let before = bytes.count
            try content.read(count: 1 << 20, from: Int64(bytes.count)) { result in
                for index in 0..<result.segmentCount {
                    let (buffer, offset, count) = result.segment(index)
                    bytes += buffer.bytes(offset, count: count)
                }
            }
            try #require(bytes.count > before)
        }
        return bytes
    }

    func text(of path: String) throws -> String { String(decoding: try content(of: path), as: UTF8.self) }
}

/// The value of ``Scratch/containers`` on a device without apps.
let emptyDevice = [
    "Bundle", "Bundle/Application", "Data", "Data/Application", "Mobile Documents", "Shared", "Shared/AppGroup",
]
