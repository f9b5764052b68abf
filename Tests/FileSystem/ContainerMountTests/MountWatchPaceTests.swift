// The pause of the process of a device between two looks at the host's mounts.

import Testing

@testable import ContainerMount

@Suite struct MountWatchPaceTests {
    private let start = ContinuousClock.now

    @Test func `the first change of some is looked at soon, and many are looked at together`() {
        var pace = MountWatchPace()
        let pauses = (0..<8).map { pace.pause(at: start + .milliseconds(100 * $0)) / 1000 }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 320, 320])
    }

    @Test func `after a quiet time a change is looked at soon again`() {
        var pace = MountWatchPace()
        for turn in 0..<6 { _ = pace.pause(at: start + .milliseconds(100 * turn)) }
        #expect(pace.pause(at: start + .seconds(2)) == MountWatchPace.shortest)
    }
}
