// Code that imports ContainerFoundation in place of Foundation, in its test's container.

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
