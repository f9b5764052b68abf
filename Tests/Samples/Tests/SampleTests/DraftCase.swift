// A test of XCTest that makes an app's requests itself: AppContainerTesting brings the names of XCTest, which brings
// Foundation along where a file imports it whole.

import AppContainerTesting
import ContainerFoundation

final class DraftCase: AppContainerTestCase {
    override class var container: ContainerOptions { ContainerOptions(.app("Apps/Drafts.app"), passcode: "1234") }

    private var draft: URL { URL.documentsDirectory.appending(path: "draft") }

    override func setUp() async throws {
        try Data("Dear Ada".utf8).write(to: draft, options: [.atomic, .completeFileProtection])
    }

    func testADraftIsClosedOnALockedPhone() async throws {
        let phone = AppContainer.current
        XCTAssertEqual(NSHomeDirectory(), phone.home)
        try await phone.lock()
        XCTAssertThrowsError(try Data(contentsOf: draft))
        expectUnreadable("Documents/draft")
        try await phone.unlock()
        XCTAssertEqual(try String(contentsOf: draft, encoding: .utf8), "Dear Ada")
    }

    func testADraftIsNotInABackup() async throws {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var marked = draft
        try marked.setResourceValues(values)
        try await expectExcluded("Documents/draft")
        let attributes = try FileManager.default.attributesOfItem(atPath: draft.path)
        XCTAssertEqual(attributes[.protectionKey] as? FileProtectionType, .complete)
    }

    @MainActor func testTheAppIsToldOfALock() async throws {
        let locks = XCTNSNotificationExpectation(
            name: UIApplication.protectedDataWillBecomeUnavailableNotification, object: UIApplication.shared)
        try await AppContainer.current.lock()
        await fulfillment(of: [locks], timeout: 10)
        XCTAssertFalse(UIApplication.shared.isProtectedDataAvailable)
    }
}
