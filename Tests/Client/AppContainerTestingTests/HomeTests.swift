// Code that imports ContainerFoundation in place of Foundation, in its test's container.

import AppContainer
import AppContainerTesting
import ContainerFoundation
import Testing

@Suite(.appContainer(app: notes, passcode: "1234")) struct HomeTests {
    @Test(arguments: 0..<3) func `the documents directory is that of the test's own container`(number: Int) async throws
    {
        let container = AppContainer.current
        #expect(URL.documentsDirectory.path == container.path("Documents"))
        #expect(NSTemporaryDirectory() == container.path("tmp/"))
        let inherited = await Task { URL.cachesDirectory.path }.value
        #expect(inherited == container.path("Library/Caches"))
    }

    @Test func `the home of the test's task is the present one after each update`() async throws {
        let container = AppContainer.current
        for _ in 1...2 {
            try await container.update(to: notes)
            #expect(NSHomeDirectory() == container.home)
            #expect(NSTemporaryDirectory() == container.path("tmp/"))
            #expect(URL.documentsDirectory.path == container.path("Documents"))
        }
        try Data().write(to: URL.documentsDirectory.appending(path: "note"))
        func note() throws -> Data { try Data(contentsOf: URL.documentsDirectory.appending(path: "note")) }
        try await container.inHome { try #expect(note() == Data()) }
        try await container.inHome { try await #expect(container.device.status().state == "unlocked") }
        #expect(try await container.inHome { try note().count } == 0)
        let name = try await container.inHome {
            try #require(try FileManager.default.contentsOfDirectory(atPath: NSHomeDirectory()).first)
        }
        #expect(!name.isEmpty)
    }

    @Test func `a file is written with its class, and excluded`() async throws {
        let file = URL.documentsDirectory.appending(path: "draft")
        try Data("draft".utf8).write(to: file, options: [.atomic, .completeFileProtection])
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var marked = file
        try marked.setResourceValues(values)
        try await expectExcluded(file.path)
        try await AppContainer.current.lock()
        expectUnreadable(file.path)
        try await expectRefused(.dataProtection) { _ = try Data(contentsOf: file) }
        let isAvailable = await UIApplication.shared.isProtectedDataAvailable
        #expect(!isAvailable)
    }
}
