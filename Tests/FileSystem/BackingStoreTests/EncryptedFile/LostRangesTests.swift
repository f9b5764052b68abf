// The lost ranges of a file, as a value.

import Testing

@testable import BackingStore

@Suite struct LostRangesTests {
    @Test func `a range is lost until all of it is removed`() {
        var losses = LostRanges()
        #expect(losses.isEmpty && !losses.overlaps(0..<100))
        losses.addWithoutKey(10..<20)
        #expect(losses.overlaps(19..<30) && !losses.overlaps(20..<30) && !losses.overlaps(0..<10))
        losses.remove(10..<15)
        #expect(!losses.overlaps(10..<15) && losses.overlaps(15..<16))
        losses.remove(0..<Int64.max)
        #expect(losses.isEmpty)
    }

    @Test func `a range lost with the key is reported once, a refused one never`() {
        var losses = LostRanges()
        losses.addWithoutKey(10..<20)
        losses.addRefused(30..<40)
        #expect(losses.takeUnreported() == [10..<20])
        #expect(losses.takeUnreported().isEmpty && losses.overlaps(10..<20))
    }

    @Test func `of refused ranges those remain that were not written since`() {
        var losses = LostRanges()
        losses.addRefused(0..<10)
        losses.addWithoutKey(20..<30)
        losses.remove(2..<5)
        #expect(losses.remainingRefused() == [0..<2, 5..<10])
        // A later loss of the same bytes is no refusal.
        losses.addWithoutKey(2..<5)
        #expect(losses.remainingRefused() == [0..<2, 5..<10])
    }
}
