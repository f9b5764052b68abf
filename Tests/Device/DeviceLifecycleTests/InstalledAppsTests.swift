// The registry of a booted device: entries, waiting containers, and one change at a time.

import BackingStore
import Foundation
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
            executable: nil, sharesDocuments: false, signature: nil, bundle: ContainerUUID(), data: data, groups: [],
            iCloud: [],
            owner: 0, ownerGroup: 0)
    }

    /// Changes that are under way, and threads that are about to make one.
    private final class Counts: Sendable {
        private struct State {
            var (now, most, begun) = (0, 0, 0)
            /// By their directories in /proc.
            var threads: [String] = []
        }

        private let state = Mutex(State())

        /// How many were under way at most.
        var most: Int { state.withLock { $0.most } }

        /// The thread that calls is about to make a change.
        func arrive() {
            let thread = try! FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            state.withLock { $0.threads.append("/proc/\(thread)") }
        }

        /// - Returns: whether it is the first.
        func begin() -> Bool {
            state.withLock { state in
                state.now += 1
                state.begun += 1
                state.most = max(state.most, state.now)
                return state.begun == 1
            }
        }

        func end() { state.withLock { $0.now -= 1 } }

        /// How many of the threads sleep, as those do that wait for a lock.
        var sleeping: Int {
            state.withLock { $0.threads }.count { thread in
                let text = (try? HostPath.contents("\(thread)/stat")).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return text.split(separator: ")").last?.hasPrefix(" S") == true
            }
        }
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
                counts.arrive()
                try? apps.changing { (_) throws(Complaint) in
                    // This thread is awake: it asks.
                    if counts.begin() { eventually("the three others, asleep") { counts.sleeping == 3 } }
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
