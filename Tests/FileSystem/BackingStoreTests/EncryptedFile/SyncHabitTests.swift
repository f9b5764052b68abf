// The recognition of files that are synchronized after each write.

import Testing

@testable import BackingStore

@Suite("A file that is synchronized after each write")
struct SyncHabitTests {
    /// A habit after so many writes that were each synchronized.
    private func habit(after writes: Int) -> SyncHabit {
        var habit = SyncHabit()
        for _ in 0..<writes {
            habit.wrote(0..<8192)
            habit.synchronized()
        }
        return habit
    }

    @Test("is known as such after the third time, and only what was just written is expected")
    func third() {
        var young = habit(after: 2)
        young.wrote(4096..<8192)
        #expect(young.expected == nil)
        var old = habit(after: 3)
        #expect(old.expected == nil)
        old.wrote(4096..<8192)
        #expect(old.expected == 4096..<8192)
        old.synchronized()
        #expect(old.expected == nil)
    }

    @Test("loses the habit by a second write without one between")
    func lost() {
        var habit = habit(after: 10)
        habit.wrote(0..<4096)
        habit.wrote(4096..<8192)
        #expect(habit.expected == nil)
        habit.synchronized()
        habit.wrote(0..<4096)
        #expect(habit.expected == nil)
        habit.synchronized()
        habit.wrote(0..<4096)
        habit.synchronized()
        habit.wrote(0..<4096)
        habit.synchronized()
        habit.wrote(0..<4096)
        #expect(habit.expected == 0..<4096)
    }

    @Test("keeps it when it is synchronized with nothing written")
    func nothingWritten() {
        var habit = habit(after: 3)
        habit.synchronized()
        habit.wrote(0..<4096)
        #expect(habit.expected == 0..<4096)
    }
}
