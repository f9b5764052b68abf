// Failures, told to whichever of the two kinds of tests is running.

import AppContainer
import Testing
import XCTest

/// Where an expectation stands in the source.
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
