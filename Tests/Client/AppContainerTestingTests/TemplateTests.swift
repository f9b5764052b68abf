// The templates that a test process makes, one for each sort of device.

import AppContainer
import Foundation
import Testing

@testable import AppContainerTesting

@Suite struct TemplateTests {
    private let directory = Directory()

    @Test func `a template that could not be made is tried anew by the next test`() async throws {
        let devices = TestDevices()
        let app = directory["Notes.app"]
        await expect(kind: .notFound) { _ = try await devices.container(ContainerOptions(.app(app))) }
        let original = FileManager.default.currentDirectoryPath + "/" + notes
        try FileManager.default.createSymbolicLink(atPath: app, withDestinationPath: original)
        let container = try await devices.container(ContainerOptions(.app(app)))
        #expect(container.app == "com.example.Notes")
        await container.device.end()
    }

    @Test func `a device that somebody has prepared needs its passcode, unless it is to be locked`() async throws {
        let prepared = try await Device.create(at: directory["phone"], passcode: "1234", kdfCost: 1)
        try await prepared.install(notes)
        await prepared.end()
        let devices = TestDevices()
        func container(_ passcode: String?, isUnlocked: Bool = true) async throws -> String {
            let options = ContainerOptions(
                .device(directory["phone"], app: nil), passcode: passcode, isUnlocked: isUnlocked)
            let container = try await devices.container(options)
            let state = try await container.device.status().state
            await container.device.end()
            return state
        }
        await expect(kind: .passcodeNeeded, saying: "say it with passcode:") { _ = try await container(nil) }
        await expect(kind: .wrongPasscode) { _ = try await container("4321") }
        #expect(try await container(nil, isUnlocked: false) == "beforeFirstUnlock")
        #expect(try await container("1234") == "unlocked")
    }
}
