// For how long a figure of the purgeable bytes is good.

import SandboxModel
import Testing

@testable import Purging

@Suite struct PurgeableEstimateTests {
    private let begun = ContinuousClock.now
    private let same = PurgeableEstimate.Conditions(used: 10, uses: 1, running: [])

    private func known(
        _ estimate: PurgeableEstimate, after milliseconds: Int, _ conditions: PurgeableEstimate.Conditions
    )
        -> Int64?
    {
        estimate.bytes(at: begun + .milliseconds(milliseconds), under: conditions)
    }

    /// A figure that took 20 ms to find.
    private var found: PurgeableEstimate {
        var estimate = PurgeableEstimate()
        estimate.record(7, from: begun, to: begun + .milliseconds(20), under: same)
        return estimate
    }

    @Test func `there is no figure before the first`() {
        #expect(known(PurgeableEstimate(), after: 0, same) == nil)
    }

    @Test func `while nothing changes a figure is good for a second`() {
        #expect(known(found, after: 999, same) == 7)
        #expect(known(found, after: 1000, same) == nil)
    }

    @Test func `while files change a figure is good for ten times as long as it took to find`() {
        for changed in [
            PurgeableEstimate.Conditions(used: 11, uses: 1, running: []),
            PurgeableEstimate.Conditions(used: 10, uses: 2, running: []),
        ] {
            #expect(known(found, after: 199, changed) == 7)
            #expect(known(found, after: 200, changed) == nil)
        }
    }

    @Test func `a figure is of no use for another set of running apps`() {
        let notes = ContainerIdentifier("com.example.Notes")!
        #expect(known(found, after: 0, PurgeableEstimate.Conditions(used: 10, uses: 1, running: [notes])) == nil)
    }
}
