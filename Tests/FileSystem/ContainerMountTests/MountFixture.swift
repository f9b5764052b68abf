// Containers in a new directory and a mount table for one test. Nothing stays mounted.

import BackingStore
import ContainerVolume
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import ContainerMount

let isRoot = geteuid() == 0
let notes = ContainerIdentifier("com.example.Notes")!
let mail = ContainerIdentifier("com.example.Mail")!
let shared = ContainerIdentifier("group.com.example.shared")!

final class MountFixture: Sendable {
    /// An end that was reported, of one mount of one of the tables.
    private struct Ending: Hashable {
        let table: Int
        let serial: UInt64
        let app: ContainerIdentifier
    }

    let root: String
    private let context: StoreContext
    private let endings = Mutex<[Ending]>([])
    /// Signalled once for each.
    private let hasEnded = Semaphore()
    private let refusals = Mutex<[RefusedCall]>([])
    private let tables = Mutex<[MountTable]>([])

    var device: String { root + "/device, with a comma" }
    /// A directory to mount at.
    var place: String { root + "/mount point" }

    init() throws {
        root = "/var/tmp/appcontainer-mount-\(UUID().uuidString)"
        let keys = Keybag.create(passcode: nil, uidKey: UIDKey()).1
        context = StoreContext(
            keys: keys, history: SessionHistory(current: 1, killed: [], powerLost: []),
            report: { Issue.record("corrupt: \($0)") })
        for path in [place, root + "/other", device, root + "/run"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        unsafe chmod(root + "/run", 0o700)
    }

    /// Runs a test, then unmounts all that it left mounted.
    static func run(_ body: (MountFixture) throws -> Void) throws {
        let fixture = try MountFixture()
        defer {
            for table in fixture.tables.withLock({ $0 }) { table.shutDown() }
            // Nothing is under way any more that could report one.
            let endings = fixture.endings.withLock { $0 }
            #expect(Set(endings).count == endings.count, "the end of a mount was reported twice")
            let left = (try? MountInfo.all())?.filter { $0.mountPoint.hasPrefix(fixture.root) } ?? []
            #expect(left == [], "a mount was left behind")
            // Not if a mount is left: that would delete its content.
            if left.isEmpty { try? FileManager.default.removeItem(atPath: fixture.root) }
        }
        try body(fixture)
    }

    private func openDevice() throws -> SharedDescriptor {
        SharedDescriptor(try Descriptor.open(path: device, flags: O_RDONLY | O_DIRECTORY))
    }

    /// A volume of one home that is not mounted.
    func makeVolume(_ home: Home) throws -> Volume {
        Volume(view: .home(home), device: try openDevice(), context: context)
    }

    /// - Parameter ending: called while the end of a mount is being reported.
    func makeTable(
        transport: TransportChoice = .automatic, ending: @escaping @Sendable () -> Void = {}
    ) throws -> MountTable {
        let anchor = try openDevice()
        let context = context
        let number = tables.withLock { $0.count }
        let table = MountTable(
            device: device, privateDirectory: root + "/run/private", homesDirectory: root + "/run/apps",
            transport: transport,
            makeVolume: { Volume(view: $0, device: anchor, context: context) },
            events: MountEvents(
                ended: { [weak self] mount in
                    ending()
                    self?.endings.withLock { $0.append(Ending(table: number, serial: mount.serial, app: mount.app)) }
                    self?.hasEnded.signal()
                },
                refused: { [weak self] call in self?.refusals.withLock { $0.append(call) } }))
        tables.withLock { $0.append(table) }
        return table
    }

    /// The apps whose mounts were reported as ended. Waits until there are `count`, once in a test.
    func ended(count: Int) -> [ContainerIdentifier] {
        for number in 1...count {
            #expect(hasEnded.wait(milliseconds: 10_000), "the end of a mount was not reported: number \(number)")
        }
        // The kernel's list has been reviewed then; an end that is reported twice is seen when the test is over.
        for table in tables.withLock({ $0 }) { table.review() }
        return endings.withLock { $0.map(\.app) }
    }

    /// The refusals since the last call.
    func refused() -> [RefusedCall] {
        refusals.withLock { refusals in
            defer { refusals = [] }
            return refusals
        }
    }

    /// An app's home; its containers are made if they do not exist.
    func home(_ app: ContainerIdentifier, groups: [ContainerIdentifier] = []) throws -> Home {
        let data = "\(device)/data-\(app)"
        let bundle = "\(device)/bundle-\(app)/Notes.app"
        for path in [
            "\(data)/Documents", "\(data)/Library/Caches", "\(data)/Library/Preferences", "\(data)/tmp", bundle,
        ] + groups.map({ "\(device)/\($0)" }) {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try "sealed".write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
        func anchor(_ path: String) throws -> SharedDescriptor {
            SharedDescriptor(try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY))
        }
        var containers: [ContainerIdentifier: SharedDescriptor] = [:]
        for group in groups { containers[group] = try anchor("\(device)/\(group)") }
        return Home(
            app: app, bundleName: "Notes.app", bundle: try sealedBundle(in: "\(device)/bundle-\(app)"),
            data: try anchor(data),
            groups: containers, iCloud: [:], owner: geteuid(), group: getegid(), isPrivate: true)
    }

    /// The host's path of a file in an app's data container.
    func backing(_ app: ContainerIdentifier, _ path: String) -> String { "\(device)/data-\(app)/\(path)" }
}

func write(_ text: String, to path: String, flags: Int32 = O_CREAT | O_WRONLY | O_TRUNC) throws {
    let file = try Descriptor.open(path: path, flags: flags, mode: 0o644)
    try file.append(Array(text.utf8))
}

func read(_ path: String) throws -> String {
    String(decoding: try HostPath.contents(path), as: UTF8.self)
}

/// The errno of a call that returned -1, otherwise 0.
func code(_ result: some BinaryInteger) -> Int32 { result == -1 ? errno : 0 }
