// Failures of an expectation, for Swift Testing and XCTest.

import AppContainer
import Testing
import XCTest

/// The source location of an expectation.
struct Place {
    let file: StaticString
    let fileID: String
    let line: Int
    let column: Int

    /// Records a failure there.
    func fail(_ message: String) {
        if Test.current != nil {
            Issue.record(
                "\(message)",
                sourceLocation: SourceLocation(
                    fileID: fileID, filePath: String(describing: file), line: line, column: column))
        } else {
            XCTFail(message, file: file, line: UInt(line))
        }
    }
}
