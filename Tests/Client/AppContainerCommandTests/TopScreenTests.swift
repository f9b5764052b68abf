// The screen of `top`: whatever it shows fits the terminal, and rates are those of the process that was watched.

import AppContainer
import Foundation
import Testing

@testable import AppContainerCommand

@Suite("The screen of top")
struct TopScreenTests {
    /// A name with wide characters, marks, a text that turns round, and what a terminal obeys.
    private static let hostile =
        "漢字かな交じり\u{202E}txt\u{1B}[2J\u{7}\n\u{301}\u{301}\u{301}👩\u{200D}👩\u{200D}👧🇩🇪"
        + String(repeating: "한", count: 60)

    private func snapshot(apps: Int, refused: Int) -> TopSnapshot {
        let status = DeviceStatus(
            state: "beforeFirstUnlock", device: "/devices/" + TopScreenTests.hostile, identifier: "0",
            hasPasscode: true,
            passcodeWait: 3600, graceRemaining: 9.5, apps: apps, daemon: DaemonStatus(pid: 1, socket: nil), mounts: [])
        let apps = (0..<apps).map { number in
            App(
                identifier: "com.example.\(TopScreenTests.hostile)\(number)", name: TopScreenTests.hostile, bundle: "",
                version: nil, container: "", groups: [], iCloud: [], owner: 0, mountPoint: nil)
        }
        let event = Event(
            .refused, app: "a", path: TopScreenTests.hostile, operation: TopScreenTests.hostile, pid: 1,
            process: TopScreenTests.hostile, rule: "topLevel")
        return TopSnapshot(
            status: status, apps: apps, activity: Activity(requests: ["lookup": 1 << 40]),
            before: (Activity(requests: [:]), seconds: 1), refused: Array(repeating: event, count: refused))
    }

    @Test(arguments: [1, 2, 5, 10, 13, 20, 30, 40, 79, 80, 81, 200], [1, 2, 3, 4, 5, 9, 24, 60])
    func `every line fits the terminal, and no character is one that it obeys`(columns: Int, rows: Int) {
        for (apps, refused) in [(0, 0), (1, 1), (30, 0), (0, 30), (30, 30)] {
            let lines = TopScreen(snapshot: snapshot(apps: apps, refused: refused), columns: columns, rows: rows).lines
            #expect(lines.count <= rows)
            for line in lines {
                #expect(DisplayWidth.of(line) <= columns, "\(line)")
                #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E || $0.value == 0x200D })
            }
        }
    }

    @Test func `the state of the device is there as soon as it fits`() throws {
        for columns in 17...80 {
            let lines = TopScreen(snapshot: snapshot(apps: 1, refused: 1), columns: columns, rows: 24).lines
            #expect(try #require(lines.first).contains("beforeFirstUnlock") || columns < 60, "\(columns)")
            #expect(try #require(lines.first).contains("before"), "\(columns)")
        }
    }

    @Test func `states stand in one column, whatever the names are`() throws {
        let lines = TopScreen(snapshot: snapshot(apps: 3, refused: 0), columns: 80, rows: 24).lines
        let places = lines.compactMap { line in
            line.range(of: "STATE").map { DisplayWidth.of(String(line[..<$0.lowerBound])) }
                ?? line.range(of: "not running").map { DisplayWidth.of(String(line[..<$0.lowerBound])) }
        }
        #expect(places == [50, 50, 50, 50])
    }

    @Test func `a rate is that of the time that was watched`() {
        let status = snapshot(apps: 0, refused: 0).status
        let taken = TopSnapshot(
            status: status, apps: [], activity: Activity(requests: ["open": 30, "read": 7, "write": 2]),
            before: (Activity(requests: ["open": 10, "read": 7, "lookup": 5]), seconds: 2), refused: [])
        #expect(taken.requestsPerSecond == ["open": 10, "write": 1])
        #expect(taken.requests == ["open": 30, "read": 7, "write": 2])
    }
}
