// Devices for tests: one template for each sort that is asked for, and a copy of it for each test.

import AppContainer

/// The templates of this process. Each is made by the first test that asks for its sort, and goes with the process.
actor TestDevices {
    static let shared = TestDevices()

    private var templates: [ContainerOptions: Task<DeviceTemplate, any Error>] = [:]

    /// Makes a device with the app mounted, and unlocks it where that was asked for.
    func container(_ options: ContainerOptions) async throws -> TestContainer {
        let template = try await template(for: options)
        return try await TestDevices.container(options, from: template)
    }

    private func template(for options: ContainerOptions) async throws -> DeviceTemplate {
        // What is done to a copy makes no other template.
        var sort = options
        sort.isUnlocked = true
        sort.isRunning = false
        let template = templates[sort] ?? Task { [sort] in try await DeviceTemplate(sort) }
        templates[sort] = template
        do {
            return try await template.value
        } catch {
            // Whoever comes next tries anew: what was missing may be there then.
            if templates[sort] == template { templates[sort] = nil }
            throw error
        }
    }

    private static func container(
        _ options: ContainerOptions, from template: DeviceTemplate
    ) async throws -> TestContainer {
        let device = try await Device.temporary(copyOf: template.path, passcode: options.passcode)
        do {
            if options.isUnlocked { try await unlock(device, of: options) }
            let app =
                if let app = template.app { app } else { try await onlyApp(of: device) }
            return try await TestContainer(mounting: app, of: device, isRunning: options.isRunning)
        } catch {
            await device.end()
            throw error
        }
    }

    private static func unlock(_ device: Device, of options: ContainerOptions) async throws {
        if options.passcode != nil { return try await device.unlock() }
        guard case .device(let path, _) = options.source, try await device.status().hasPasscode else { return }
        throw DeviceError(
            .passcodeNeeded,
            "the device \(path) has a passcode; say it with passcode:, or have the device locked with isUnlocked: false"
        )
    }

    private static func onlyApp(of device: Device) async throws -> String {
        let apps = try await device.apps()
        guard apps.count == 1, let app = apps.first else {
            throw DeviceError(
                .unknownApp,
                "the device that the test asks for has \(apps.count) apps; say which one with app:")
        }
        return app.identifier
    }
}

/// A device that is shut down, and that tests have copies of.
private final class DeviceTemplate: Sendable {
    let path: String
    /// The identifier of the app that was installed; nil where the device was prepared by somebody who did not say.
    let app: String?
    private let made: Device.Template?

    init(_ options: ContainerOptions) async throws {
        switch options.source {
        case .device(let path, let app):
            self.path = path
            self.app = app
            made = nil
        case .app(let app):
            let template = try await Device.Template(
                passcode: options.passcode, capacity: options.capacity.map { Int64($0) },
                installing: [.init(app, groups: options.groups, iCloud: options.iCloud)])
            made = template
            path = template.path
            self.app = template.apps.first?.identifier
        }
    }
}
