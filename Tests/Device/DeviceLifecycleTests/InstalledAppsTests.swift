// The registry of a booted device: entries, waiting containers, and one change at a time.

import BackingStore
import Glibc
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct InstalledAppsTests {
    private let scratch = Scratch()
    private let notes = id("com.example.Notes")

    /// An app that only the registry knows.
    private func app(_ version: String, data: ContainerUUID = ContainerUUID()) -> InstalledApp {
        InstalledApp(
            identifier: notes, bundleName: "Notes.app", displayName: "Notes", version: version, build: "1",
            executable: nil, sharesDocuments: false, bundle: ContainerUUID(), data: data, groups: [], iCloud: [],
            owner: 0, ownerGroup: 0)
    }

    /// How many changes are under way, and were at most.
    private final class Counts: Sendable {
        private let state = Mutex((now: 0, most: 0))

        var most: Int { state.withLock { $0.most } }

        func begin() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func end() { state.withLock { $0.now -= 1 } }
    }

    private func register(_ app: InstalledApp, in apps: InstalledApps) throws {
        try apps.changing { (changes) throws(Complaint) in try changes.register(app) }
    }

    @Test func `an app is registered in place of one with its identifier, durably`() throws {
        let device = try scratch.makeDevice()
        let apps = device.installedApps
        #expect(complaint { _ = try apps.app(notes) }?.kind == .unknownApp)
        try register(app("1"), in: apps)
        try register(app("2"), in: apps)
        #expect(apps.registry.apps.map(\.version) == ["2"])
        #expect(try device.directory.apps().map(\.version) == ["2"])
        let app = try apps.app(notes)
        try apps.changing { (changes) throws(Complaint) in try changes.unregister(app) }
        #expect(apps.installed(notes) == nil)
        #expect(try device.directory.apps().isEmpty)
    }

    @Test func `a container waits no longer when an app is registered with it`() throws {
        let device = try scratch.makeDevice()
        let data = ContainerUUID()
        let waiting = WaitingContainer(kind: .data, identifier: notes, uuid: data, owner: 0, ownerGroup: 0)
        try device.installedApps.changing { (changes) throws(Complaint) in
            try changes.replace(with: AppRegistry(waiting: [waiting]))
        }
        #expect(device.registry.waiting == [waiting])
        try register(app("1", data: data), in: device.installedApps)
        #expect(device.registry.waiting.isEmpty)
    }

    @Test func `one change is under way at a time, and others wait for it`() throws {
        let device = try scratch.makeDevice()
        let apps = device.installedApps
        let counts = Counts()
        let threads = try (0..<4).map { _ in
            try HostThread(name: "change") {
                try? apps.changing { (_) throws(Complaint) in
                    counts.begin()
                    usleep(1000)
                    counts.end()
                }
            }
        }
        for thread in threads { thread.join() }
        apps.awaitChange()
        #expect(counts.most == 1)
        #expect(!apps.hasEnded)
        try apps.end { () throws(Complaint) in }
        #expect(apps.hasEnded)
    }
}
