// Devices for tests: a template for each set of options, and a copy of it for each test.

import AppContainer
import Platform

/// The templates of this process. The first test with given options makes one; it is deleted with the process.
actor TestDevices {
    static let shared = TestDevices()

    /// The environment variable that keeps this process's action for SIGBUS as it is, if it is `off`.
    private static let busErrors = "APPCONTAINER_TEST_SIGBUS"
    private static let reportsBusErrors: Void = {
        if ProcessSettings.variable(busErrors) != "off" { ProcessSettings.reportBusErrors() }
    }()

    private var templates: [ContainerOptions: Task<DeviceTemplate, any Error>] = [:]

    /// Makes a device, unlocks it if the options say so, and mounts the app.
    func container(_ options: ContainerOptions) async throws -> TestContainer {
        Self.reportsBusErrors
        let template = try await template(for: options)
        return try await TestDevices.container(options, from: template)
    }

    private func template(for options: ContainerOptions) async throws -> DeviceTemplate {
        // These two options apply to the copy only.
        var key = options
        key.isUnlocked = true
        key.isRunning = false
        let template = templates[key] ?? Task { [key] in try await DeviceTemplate(key) }
        templates[key] = template
        do {
            return try await template.value
        } catch {
            // The next test tries again: the cause may be gone by then.
            if templates[key] == template { templates[key] = nil }
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

/// A device that is shut down, of which tests get copies.
private final class DeviceTemplate: Sendable {
    let path: String
    /// The identifier of the installed app; nil for a prepared device whose app was not named.
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
                capricious: options.capricious, installing: [.init(app, groups: options.groups, iCloud: options.iCloud)]
            )
            made = template
            path = template.path
            self.app = template.apps.first?.identifier
        }
    }
}
