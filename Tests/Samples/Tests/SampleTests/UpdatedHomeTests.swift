// The home of an app after an update, as code that imports ContainerFoundation finds it.

import AppContainerTesting
import ContainerFoundation
import Testing

@Suite(.appContainer(app: "Apps/Album.app"))
struct UpdatedHomeTests {
    private let phone = AppContainer.current

    @Test func `an app that is updated finds its documents in its new home`() async throws {
        try takePicture()
        let first = NSHomeDirectory()
        try await phone.update(to: "Apps/Later/Album.app")
        #expect(NSHomeDirectory() != first)
        #expect(try titles() == ["beach"])
    }

    /// The compiler takes a closure for one that throws if it has a `try` outside of macros.
    @Test func `expectations stand in a body that runs in the home`() async throws {
        try takePicture()
        try await phone.inHome { try #expect(titles() == ["beach"]) }
        try await phone.inHome { try await #expect(title() == "beach") }
        try await phone.inHome { () async throws in #expect(try await title() == "beach") }
        #expect(try await phone.inHome { try titles() } == ["beach"])
        let found = try await phone.inHome { try #require(try titles().first) }
        #expect(found == "beach")
    }

    @Test func `a detached task enters the home`() async throws {
        try takePicture()
        let phone = phone
        let found = try await Task.detached { try await phone.inHome { try titles() } }.value
        #expect(found == ["beach"])
    }
}

private func takePicture() throws {
    try Data().write(to: URL.documentsDirectory.appending(path: "beach"))
}

private func titles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: URL.documentsDirectory.path)
}

private func title() async throws -> String? { try titles().first }
