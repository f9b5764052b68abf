// Tests of expectations on a record with any number of earlier events.

import AppContainer
import AppContainerTesting
import Foundation
import Testing

@Suite(.appContainer(app: notes, passcode: "1234")) struct EarlierEventsTests {
    private let container = AppContainer.current

    @Test func `a refusal after a flood of the same is expected like any other`() async throws {
        for _ in 0..<3000 { write(to: "Notes.app/new") }
        let refusals = try await expectRefused(.sandbox) { write(to: "Notes.app/new") }
        #expect(refusals.count == 1)
    }

    @Test func `a refusal is expected though the record drops its oldest events meanwhile`() async throws {
        // A name that takes many bytes of JSON: a record has at most 8 MiB.
        let directory = try deepDirectory()
        let file = directory + "/file"
        try Data().write(to: container.url(file))
        try await container.setProtection(.complete, of: file)
        try await container.lock()
        // Each takes 6 KB of the 4 MiB that a file of the record has: the second is nearly full. By other processes,
        // whose refusals do not count against those of this one.
        for _ in 0..<2 { try readByAnother(file, times: 600) }
        let before = try await container.device.recordedEvents().count
        let refusals = try await expectRefused(.dataProtection) { for _ in 0..<250 { read(file) } }
        #expect(refusals.count == 250)
        // Else this has shown nothing.
        #expect(try await container.device.recordedEvents().count < before + 250)
    }

    private func deepDirectory() throws -> String {
        let name = String(repeating: "\u{1}", count: 250)
        var path = "Documents"
        for _ in 0..<12 {
            path += "/\(name)"
            try FileManager.default.createDirectory(
                atPath: container.path(path), withIntermediateDirectories: false)
        }
        return path
    }

    private func read(_ path: String) {
        #expect(unsafe open(container.path(path), O_RDONLY) == -1)
    }

    private func readByAnother(_ path: String, times: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "i=0; while [ $i -lt $2 ]; do true 2>/dev/null <\"$1\"; i=$((i + 1)); done", "sh",
            container.path(path), "\(times)",
        ]
        try process.run()
        process.waitUntilExit()
    }

    private func write(to path: String) {
        #expect(unsafe open(container.path(path), O_WRONLY | O_CREAT, 0o600) == -1)
    }
}
