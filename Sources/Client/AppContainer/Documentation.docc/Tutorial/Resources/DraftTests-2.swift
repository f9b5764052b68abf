import AppContainerTesting
import Drafts
import Testing

@Test(.appContainer(app: "Apps/Drafts.app", passcode: "1234"))
func aDraftIsSafeWhileThePhoneIsLocked() async throws {
    try Drafts().save("Dear Ada")
    try await AppContainer.current.lock()
    expectUnreadable("Documents/draft.txt")
    try await expectRefused(.dataProtection) { _ = try Drafts().load() }
}
