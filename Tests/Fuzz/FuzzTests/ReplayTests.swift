// Every input that is kept in the corpora, run once: what the fuzzers have found stays mended.

import Foundation
import FuzzTargets
import TestSupport
import Testing

@Suite(.serialized) struct ReplayTests {
    private static let corpora = Checkout.root.appending(path: "Tests/Fuzz/Corpora")

    @Test func `every corpus belongs to a target, and every target has one`() throws {
        let corpora = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(corpora) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `the inputs of a corpus break nothing`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let directory = Self.corpora.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files.sorted(by: { $0.path < $1.path }) { target.run([UInt8](try Data(contentsOf: file))) }
        target.run([])
    }
}
