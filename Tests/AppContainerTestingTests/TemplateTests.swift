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
        try FileManager.default.copyItem(atPath: notes, toPath: app)
        let container = try await devices.container(ContainerOptions(.app(app)))
        #expect(container.app == "com.example.Notes")
        await container.device.end()
    }
}
