// A device's own files, which its owner or anybody with the disk may have written.

import DataProtection
import HashFunctions
import Platform
import SandboxModel

@testable import BackingStore

extension FuzzTarget {
    static let devices = [
        FuzzTarget("keybag") { input in
            // With the checksum that it should have, so that the fields behind it are reached too.
            let whole = input + HashFunction.sha256.digest(of: input).prefix(24)
            _ = try? Keybag(decoding: input).openWithoutPasscode(uidKey: uidKey)
            _ = try Keybag(decoding: whole).openWithoutPasscode(uidKey: uidKey)
        },
        FuzzTarget("device-record") { input in
            _ = try DeviceRecords.format(of: input, file: "Device.json")
            let record = try DeviceRecords.decode(DeviceRecord.self, from: input, file: "Device.json")
            _ = (record.settings.isPossible, record.settings.lockGraceSeconds)
        },
        FuzzTarget("app-record") { input in
            let registry = try DeviceRecords.registry(from: input, file: "Apps.json")
            let again = try DeviceRecords.registry(from: DeviceRecords.encode(registry), file: "Apps.json")
            require(again == registry, "a registry changes when it is written and read")
        },
        FuzzTarget("session-record") { input in
            let record = try DeviceRecords.decode(SessionRecord.self, from: input, file: "Sessions.json")
            let (next, session) = try record.next(bootID: "boot", at: HostTime(nanoseconds: 1 << 60), in: 1)
            let history = SessionHistory(
                current: session.number, killed: Set(session.killed), powerLost: Set(session.powerLost),
                times: session.times)
            for number in next.killed + next.powerLost { _ = history.lostPower(since: number) }
            for ending in [SessionHistory.Ending.killed, .powerLost] {
                _ = history.isDuring(ending, HostTime(nanoseconds: 1 << 60))
            }
        },
        FuzzTarget("passcode-record") { input in
            _ = try DeviceRecords.decode(PasscodeAttempts.self, from: input, file: "Passcode.json")
        },
        FuzzTarget("content") { input in try StoredContent(Choices(input)).use() },
        FuzzTarget("content-header") { input in
            let file = SharedDescriptor(try openFile(input))
            _ = try EncryptedFile.open(file, isWritable: true, context: StoredContent.makeContext())
        },
    ]

    private static let uidKey = UIDKey([UInt8](repeating: 7, count: 32))!
}
