// Tests of the space that operations on apps take and free, as it is counted.

import Foundation
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore
@testable import DeviceLifecycle

@Suite("The space that operations add and free")
struct SpaceTests {
    private let scratch = Scratch()
    private let group = id("group.com.example.shared")

    /// A device with the sample app, and with a file of 300000 bytes that has a name in its data container and one in
    /// its group.
    private func makeDevice() throws -> BootedDevice {
        let device = try scratch.makeDevice()
        let app = try device.install(sampleApp, groups: [group])
        let data = try device.backingPath(of: app.identifier, .data)
        let shared = device.directory.path(of: .group, app.groups[0].uuid)
        try shell(
            "head -c 300000 /dev/urandom > '\(data)/Documents/a' && ln '\(data)/Documents/a' '\(shared)/a' && sync '\(shared)/a'"
        )
        device.countSpace { true }
        return device
    }

    private func expectCounted(_ device: BootedDevice, sourceLocation: SourceLocation = #_sourceLocation) {
        let used = device.context.space.used
        device.countSpace { true }
        #expect(used == device.context.space.used, sourceLocation: sourceLocation)
    }

    @Test func `a reset takes nothing that the group has a name for`() throws {
        let device = try makeDevice()
        try device.reset(id("com.example.Notes"))
        #expect(device.context.space.used > 300_000)
        expectCounted(device)
    }

    @Test func `a file with names in two containers counts until the last name is removed`() throws {
        let device = try makeDevice()
        let other = try scratch.makeApp("Other", identifier: "com.example.Other")
        _ = try device.install(other, groups: [group])
        try device.uninstall(id("com.example.Notes"))
        #expect(device.context.space.used > 300_000)
        expectCounted(device)
        try device.uninstall(id("com.example.Other"))
        #expect(device.context.space.used < 300_000)
        expectCounted(device)
    }

    @Test func `a file with names in two containers is subtracted once if both are removed`() throws {
        let device = try makeDevice()
        try device.uninstall(id("com.example.Notes"))
        expectCounted(device)
    }
}
