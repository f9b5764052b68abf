// The settings of a device's days are possible, or the device is damaged: whoever wrote them, the clock goes by them.

import Foundation
import Testing

@testable import BackingStore

@Suite struct DaySettingsTests {
    private func isPossible(_ change: (inout DaySettings) -> Void) -> Bool {
        var settings = DaySettings()
        change(&settings)
        return settings.isPossible
    }

    @Test func `a day can be added to each time, and a hundred years`() {
        #expect(isPossible { _ in })
        for time in [0, 1_800_000_000_000_000_000, DaySettings.times.upperBound] {
            #expect(isPossible { $0.lastBackup = time } && isPossible { $0.nextCleaning = time })
        }
        #expect(!DaySettings.times.upperBound.addingReportingOverflow(100 * 86_400 * 1_000_000_000).overflow)
    }

    @Test(arguments: [Int64.min, -1, DaySettings.times.upperBound + 1, .max])
    func `other times are not possible`(time: Int64) {
        #expect(!isPossible { $0.lastBackup = time })
        #expect(!isPossible { $0.nextCleaning = time })
    }

    @Test(arguments: [Int64.min, -1, .max]) func `nor is a clock that is behind, or centuries ahead`(time: Int64) throws
    {
        for move in [(host: time, ahead: 0), (host: 0, ahead: time)] {
            let text = Data(#"[{"host": \#(move.host), "ahead": \#(move.ahead)}]"#.utf8)
            let history = try JSONDecoder().decode(ClockHistory.self, from: text)
            #expect(!isPossible { $0.clock = history })
        }
    }

    @Test func `backups have an absolute path`() {
        #expect(isPossible { $0.backupDirectory = "/daily" })
        #expect(!isPossible { $0.backupDirectory = "daily" })
    }
}
