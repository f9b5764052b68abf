// The mount points that a device makes: nothing of them stays, and one mount's end takes none from another.

import Foundation
import Glibc
import SandboxModel
import Testing

@testable import Daemon

@Suite struct HomesTests {
    private let base: String
    private let homes: Homes

    init() throws {
        base = FileManager.default.temporaryDirectory.appending(path: "homes-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
        homes = Homes(directory: base + "/0.sock.apps", mode: S_IRWXU)
    }

    private var left: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: base)) ?? [] }

    @Test func `the last mount point takes the directories above it along`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        let one = try homes.make(.toStay, of: "1")
        let other = try homes.make(.toRun, of: "2")
        homes.remove(one)
        #expect(Set(left) == ["0.sock.apps", "0.sock.apps/homes", "0.sock.apps/homes/2"])
        homes.remove(other)
        #expect(left.isEmpty)
    }

    /// A daemon can be killed between any two of its calls.
    @Test(arguments: ["", "/homes", "/mounts", "/mounts/1"])
    func `of a killed daemon nothing stays`(made: String) throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        try FileManager.default.createDirectory(
            atPath: homes.directory + made, withIntermediateDirectories: true)
        homes.removeAll()
        #expect(left.isEmpty)
    }

    @Test func `a directory that holds more than mount points stays`() throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        let home = try homes.make(.toStay, of: "1")
        try Data().write(to: URL(filePath: home + "/file"))
        homes.removeAll()
        #expect(left.contains("0.sock.apps/mounts/1/file"))
    }

    @Test func `mounts begin while others end`() async throws {
        defer { try? FileManager.default.removeItem(atPath: base) }
        try await withThrowingTaskGroup { group in
            for number in 1...4 {
                group.addTask { [homes] in
                    for _ in 1...2_000 { homes.remove(try homes.make(.toStay, of: "\(number)")) }
                }
            }
            try await group.waitForAll()
        }
        #expect(left.isEmpty)
    }
}
