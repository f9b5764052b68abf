// A test with arguments, which fails where another test tells it to.

import AppContainer
import AppContainerTesting
import Foundation
import Testing

@Suite(.appContainer(app: notes)) struct ManyTests {
    @Test(arguments: ["one/half", "two"]) func `a case fails`(of name: String) throws {
        guard Order.given == .fail else { return }
        #expect(throws: CocoaError.self) { try Data().write(to: AppContainer.current.url("Notes.app/unexpected")) }
        Issue.record("told to fail")
    }
}
