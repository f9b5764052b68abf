// Tests of impossible requests of a device: the error has a kind to tell apart, and one line for people.

import AppContainer
import Foundation
import Testing

@Suite struct DeviceErrorTests {
    private let app = "com.example.Notes"
    private let directory = Directory()

    @Test func `a device that is not there, or none`() async throws {
        await expect(kind: .deviceMissing) { _ = try await Device.open(directory["none"]) }
        await expect(kind: .notADevice) { _ = try await Device.open(directory.path) }
        await expect(kind: .deviceMissing) { _ = try await Device.temporary(copyOf: directory["none"]) }
    }

    @Test func `one of two tasks that make a device at one place succeeds`() async throws {
        let path = directory["phone"]
        let outcomes = await withTaskGroup(of: Result<Device, DeviceError>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(DeviceError) {
                        return .success(try await Device.create(at: path, kdfCost: 1))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let made = outcomes.compactMap { try? $0.get() }
        #expect(made.count == 1)
        for case .failure(let error) in outcomes { #expect(error.kind == .deviceExists, "\(error)") }
        #expect(try await made.first?.status().apps == 0)
        await made.first?.end()
    }

    @Test func `a device that is on is not copied`() async throws {
        let device = try await Device.create(at: directory["phone"])
        _ = try await device.status()
        await expect(kind: .deviceBusy) { _ = try await Device.temporary(copyOf: directory["phone"]) }
        await device.end()
        let copy = try await Device.temporary(copyOf: directory["phone"])
        await copy.end()
    }

    @Test func `a setting that no device has`() async throws {
        await expect(kind: .invalidPasscode) { _ = try await Device.temporary(passcode: "") }
        await expect(kind: .badRequest) { _ = try await Device.temporary(kdfCost: 21) }
        await expect(kind: .badRequest) { _ = try await Device.temporary(lockGrace: .seconds(-1)) }
    }

    @Test func `an app that is none`() async throws {
        await expect(kind: .notFound) { _ = try await Device.Template(installing: ["none.app"]) }
        let broken = directory["Broken.app"]
        try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: false)
        await expect(kind: .invalidApp) { _ = try await Device.Template(installing: [.init(broken)]) }
        await expect(kind: .invalidIdentifier) {
            _ = try await Device.Template(installing: [.init(notes, groups: ["../escape"])])
        }
    }

    @Test func `a request that the device's state does not allow`() async throws {
        try await Device.withTemporary { device in
            await expect(kind: .noPasscode) { try await device.lock() }
            await expect(kind: .passcodeNeeded) { try await device.unlock() }
            await expect(kind: .unknownApp) { _ = try await device.mount(app) }
            await expect(kind: .unknownApp) { try await device.deliver(["\(notes)/Info.plist"], to: app) }
            try await device.install(notes)
            await expect(kind: .notFound) { try await device.deliver(["none"], to: app) }
            await expect(kind: .notMounted) { try await device.exclude("Documents", of: app) }
            try await device.mount(app)
            await expect(kind: .alreadyMounted) { _ = try await device.mount(app) }
            await expect(kind: .notFound) { try await device.exclude("Documents/none", of: app) }
            await expect(kind: .notFound) { try await device.setProtection(.complete, of: "Documents/no", in: app) }
            await expect(kind: .notAllowed) { try await device.setProtection(.complete, of: "Notes.app", in: app) }
            await expect(kind: .inUse) { try await device.uninstall(app) }
            await expect(kind: .notRunning) { try await device.terminate(app) }
            await expect(kind: .notFound) { try await device.restore(from: directory["none"]) }
        }
    }

    @Test func `a wrong passcode`() async throws {
        try await Device.withTemporary(passcode: "1234") { device in
            await expect(kind: .wrongPasscode) { try await device.unlock(passcode: "4321") }
            try await device.unlock()
            try await device.lock()
            await expect(kind: .wrongPasscode) { try await device.removePasscode("4321") }
        }
    }
}

/// Expects an error of a kind, whose message is one line.
/// - Parameter words: what the message has in it.
func expect(
    kind: DeviceError.Kind, saying words: String = "", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    await #expect(sourceLocation: sourceLocation) {
        try await body()
    } throws: { error in
        guard let error = error as? DeviceError else { return false }
        return error.kind == kind && !error.message.isEmpty && !error.message.contains("\n")
            && (words.isEmpty || error.message.contains(words))
    }
}
