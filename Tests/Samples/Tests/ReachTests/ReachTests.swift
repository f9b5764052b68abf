// How far it goes: as many tests as a project has, each with a device of its own.

import AppContainerTesting
import Foundation
import Testing

@Suite(.appContainer(app: "Apps/Notes.app", passcode: "1234"))
struct ReachTests {
    @Test(arguments: 1...200)
    func `each of two hundred tests finds a device that is as new`(number: Int) throws {
        let documents = AppContainer.current.url("Documents")
        #expect(try FileManager.default.contentsOfDirectory(atPath: documents.path).isEmpty)
        let file = documents.appending(path: "number")
        try Data("\(number)".utf8).write(to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "\(number)")
    }
}
