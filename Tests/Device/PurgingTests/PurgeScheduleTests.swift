// When the purger purges, and when writers get their answers: no thread, no device, and times that a test makes up.

import SandboxModel
import Testing

@testable import Purging

@Suite("When the purger purges, and when writers get their answers")
struct PurgeScheduleTests {
    private typealias Schedule = PurgeSchedule<String>

    private let begun = ContinuousClock.now
    private let quiet = Schedule.Conditions(running: [], uses: 1)
    private let low = PurgeNeed(available: 4, lowWater: 5, highWater: 10)
    private let enough = PurgeNeed(available: 5, lowWater: 5, highWater: 10)

    private func ask(_ schedule: inout Schedule, for bytes: Int64, after seconds: Int = 0) throws -> Schedule.Ticket {
        guard case .waits(let ticket) = schedule.ask(for: bytes, at: begun + .seconds(seconds), under: quiet) else {
            throw Unexpected()
        }
        return ticket
    }

    private func add(_ job: String, to schedule: inout Schedule) -> Bool { schedule.add(job) }

    private struct Unexpected: Error {}

    /// Whether a writer waits, and otherwise why it does not.
    private func admission(
        _ schedule: inout Schedule, after milliseconds: Int = 0, under conditions: Schedule.Conditions? = nil
    ) -> String {
        let now = begun + .milliseconds(milliseconds)
        switch schedule.ask(for: 1, at: now, under: conditions ?? quiet) {
        case .waits: return "waits"
        case .backsOff: return "backs off"
        case .stopped: return "stopped"
        }
    }

    // MARK: Jobs

    @Test func `a turn takes the jobs that were added before it, in their order, once`() {
        var schedule = Schedule(at: begun)
        #expect(add("a", to: &schedule) && add("b", to: &schedule))
        #expect(schedule.takeTurn().jobs == ["a", "b"])
        #expect(schedule.takeTurn().jobs.isEmpty)
    }

    @Test func `a stopped purger takes no more jobs, and carries out in its last turn those that it has`() {
        var schedule = Schedule(at: begun)
        #expect(add("a", to: &schedule))
        schedule.stop()
        #expect(!add("b", to: &schedule))
        let turn = schedule.takeTurn()
        #expect(turn.isStopped && turn.jobs == ["a"])
    }

    // MARK: The target of a turn

    @Test func `without writers and news nothing is purged before the regular look`() {
        var schedule = Schedule(at: begun)
        let turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, low, at: begun + .milliseconds(4999), under: quiet) == nil)
        #expect(schedule.target(of: turn, low, at: begun + .seconds(5), under: quiet) == 10)
        #expect(schedule.target(of: turn, enough, at: begun + .seconds(5), under: quiet) == nil)
    }

    @Test func `a look is due five seconds after the one before`() {
        var schedule = Schedule(at: begun)
        #expect(!schedule.isTimeToLook(at: begun + .seconds(4)) && schedule.isTimeToLook(at: begun + .seconds(5)))
        schedule.recordLook(at: begun + .seconds(6))
        #expect(!schedule.isTimeToLook(at: begun + .seconds(10)) && schedule.isTimeToLook(at: begun + .seconds(11)))
    }

    @Test func `news of low space has the next turn purge up to the high-water mark, if space is still low`() {
        var schedule = Schedule(at: begun)
        schedule.reportLowSpace()
        let turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun, under: quiet) == nil)
        #expect(schedule.target(of: turn, low, at: begun, under: quiet) == 10)
        // The turn has taken the news.
        let next = schedule.takeTurn()
        #expect(schedule.target(of: next, low, at: begun, under: quiet) == nil)
    }

    @Test func `a turn purges for the writer that wants most, and no less than up to the high-water mark`() throws {
        var schedule = Schedule(at: begun)
        _ = try ask(&schedule, for: 7)
        var turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun, under: quiet) == 10)
        _ = try ask(&schedule, for: 30)
        _ = try ask(&schedule, for: 20)
        turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun, under: quiet) == 30)
        turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun, under: quiet) == nil)
    }

    @Test func `a writer that wants nothing is a writer all the same`() throws {
        var schedule = Schedule(at: begun)
        _ = try ask(&schedule, for: 0)
        let turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun, under: quiet) == 10)
    }

    // MARK: Answers

    @Test func `a writer waits until enough was freed and is available`() throws {
        var schedule = Schedule(at: begun)
        let ticket = try ask(&schedule, for: 100)
        #expect(schedule.answer(to: ticket, available: { 200 }) == nil)
        schedule.recordFreed(50)
        #expect(schedule.answer(to: ticket, available: { 99 }) == nil)
        #expect(schedule.answer(to: ticket, available: { 100 }) == true)
    }

    @Test func `the end of its turn answers a writer: yes after any purge, else if enough is available`() throws {
        var schedule = Schedule(at: begun)
        let first = try ask(&schedule, for: 100)
        schedule.end(schedule.takeTurn())
        #expect(schedule.answer(to: first, available: { 99 }) == false)
        #expect(schedule.answer(to: first, available: { 100 }) == true)
        let second = try ask(&schedule, for: 100)
        let turn = schedule.takeTurn()
        schedule.recordFreed(1)
        schedule.end(turn)
        // Another may be satisfied with less, and the writer is to try.
        #expect(schedule.answer(to: second, available: { 0 }) == true)
    }

    @Test func `a writer that asks during a turn is answered by the next one`() throws {
        var schedule = Schedule(at: begun)
        let early = try ask(&schedule, for: 100)
        let turn = schedule.takeTurn()
        let late = try ask(&schedule, for: 100)
        schedule.end(turn)
        #expect(schedule.answer(to: early, available: { 0 }) == false)
        #expect(schedule.answer(to: late, available: { 0 }) == nil)
        schedule.end(schedule.takeTurn())
        #expect(schedule.answer(to: late, available: { 0 }) == false)
    }

    @Test func `bytes that came free before a writer asked are none of its`() throws {
        var schedule = Schedule(at: begun)
        schedule.recordFreed(1000)
        let ticket = try ask(&schedule, for: 100)
        #expect(schedule.answer(to: ticket, available: { 1000 }) == nil)
    }

    @Test func `the end of the purger answers every writer, and admits no other`() throws {
        var schedule = Schedule(at: begun)
        let ticket = try ask(&schedule, for: 100)
        schedule.stop()
        #expect(schedule.answer(to: ticket, available: { 99 }) == false)
        #expect(schedule.answer(to: ticket, available: { 100 }) == true)
        #expect(admission(&schedule) == "stopped")
    }

    // MARK: Back-off

    @Test func `after a fruitless purge no writer waits and no turn purges for two seconds`() throws {
        var schedule = Schedule(at: begun)
        schedule.endPurge(isFruitless: true, at: begun, under: quiet)
        #expect(admission(&schedule, after: 1999) == "backs off")
        schedule.reportLowSpace()
        let turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, low, at: begun + .milliseconds(1999), under: quiet) == nil)
        #expect(schedule.target(of: turn, low, at: begun + .seconds(2), under: quiet) == 10)
        #expect(admission(&schedule, after: 2000) == "waits")
    }

    @Test func `another set of running apps, and a file that was used, end the back-off`() {
        let notes = ContainerIdentifier("com.example.Notes")!
        var schedule = Schedule(at: begun)
        schedule.endPurge(isFruitless: true, at: begun, under: quiet)
        #expect(admission(&schedule, under: Schedule.Conditions(running: [notes], uses: 1)) == "waits")
        #expect(admission(&schedule, under: Schedule.Conditions(running: [], uses: 2)) == "waits")
        #expect(admission(&schedule) == "backs off")
    }

    @Test func `a purge that took something, and a command's purge, end the back-off`() {
        var schedule = Schedule(at: begun)
        schedule.endPurge(isFruitless: true, at: begun, under: quiet)
        schedule.endJob()
        #expect(admission(&schedule) == "waits")
        schedule.endPurge(isFruitless: true, at: begun, under: quiet)
        schedule.endPurge(isFruitless: false, at: begun, under: quiet)
        #expect(admission(&schedule) == "waits")
    }

    @Test func `a writer that backs off is not in the queue`() {
        var schedule = Schedule(at: begun)
        schedule.endPurge(isFruitless: true, at: begun, under: quiet)
        _ = admission(&schedule)
        let turn = schedule.takeTurn()
        #expect(schedule.target(of: turn, enough, at: begun + .seconds(3), under: quiet) == nil)
    }
}
