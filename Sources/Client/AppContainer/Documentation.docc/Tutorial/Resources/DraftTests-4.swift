import AppContainerTesting
import Drafts
import Testing

@Test(.appContainer(app: "Apps/Drafts.app", passcode: "1234"))
func aDraftIsSafeWhileThePhoneIsLocked() async throws {
    try Drafts().save("Dear Ada")
    try await AppContainer.current.lock()
    expectUnreadable("Documents/draft.txt")
    try await expectRefused(.dataProtection) { _ = try Drafts().load() }
    try await AppContainer.current.unlock()
    #expect(try Drafts().load() == "Dear Ada")
}

@Test(.appContainer(app: "Apps/Drafts.app"))
func aThumbnailIsMadeAnew() async throws {
    try Drafts().save("Dear Ada")
    let picture = try Drafts().thumbnail()
    let phone = AppContainer.current
    try await phone.whileNotRunning { try await phone.purge() }
    try await expectPurged("Library/Caches/thumbnail")
    #expect(try Drafts().thumbnail() == picture)
}
