// The policy compared with its committed table.

import Foundation
import Testing

/// A change of policy shows as a change of the committed table, where a reviewer reads it.
/// `UPDATE_FIXTURES=1 swift test --filter MatrixTests` writes the table anew.
@Suite("The policy as a table")
struct MatrixTests {
    @Test("The committed matrix is what the policy answers")
    func committed() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/matrix.txt")
        if ProcessInfo.processInfo.environment["UPDATE_FIXTURES"] != nil {
            try Data(Matrix.text.utf8).write(to: file)
        }
        let committed = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let now = Matrix.text.split(separator: "\n")
        #expect(committed.count == now.count)
        for (old, new) in zip(committed, now) { #expect(old == new) }
    }
}
