// The record of wrong passcodes, which is written at every attempt.

import Platform
public import SandboxModel

/// The content of Passcode.json, which is missing while the last attempt was right.
public struct PasscodeAttempts: Codable, Equatable, Sendable {
    /// Attempts since the last right one. An attempt counts from its begin, so that killing the process does not help.
    public let wrong: Int
    /// The boot and the time of the last attempt; after a boot, of the first look at this record.
    public let bootID: String
    public let nanoseconds: Int64
    /// The mark of the last wrong passcode in hexadecimal digits; nil where it is not known. Given again it does not
    /// count.
    public var lastWrong: String?

    /// Permitted values of ``wrong``.
    private static let counts = 1...1_000_000_000

    public init(wrong: Int, at instant: HostInstant, lastWrong: String? = nil) {
        self.lastWrong = lastWrong
        self.wrong = min(wrong, PasscodeAttempts.counts.upperBound)
        bootID = instant.bootID
        nanoseconds = instant.nanoseconds
    }

    /// The number of wrong attempts that erases a device which is set so.
    public static let most = 10

    fileprivate var isPossible: Bool { PasscodeAttempts.counts.contains(wrong) && nanoseconds >= 0 }
}

extension DeviceDirectory {
    /// - Returns: nil if the last attempt was right.
    /// - Throws: ``Complaint`` of kind `damaged`: an unreadable record must not give free guesses.
    public func passcodeAttempts() throws(Complaint) -> PasscodeAttempts? {
        let file = "\(path)/\(Name.attempts.text)"
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try RecordFile(name: Name.attempts).read(in: root)
        }
        guard let bytes else { return nil }
        let attempts = try DeviceRecords.decode(PasscodeAttempts.self, from: bytes, file: file)
        guard attempts.isPossible else { throw DeviceRecords.damaged(file) }
        return attempts
    }

    /// Durable on return.
    public func replacePasscodeAttempts(
        with attempts: PasscodeAttempts, holding lock: DeviceLock
    ) throws(Complaint) {
        try replace(Name.attempts, with: try DeviceRecords.encode(attempts))
    }

    /// Forgets the wrong attempts.
    /// - Parameter durably: otherwise not synchronized, so that an unlock waits for the disk only once: a power cut
    ///   shortly after may restore a count that is too high, never too low.
    public func clearPasscodeAttempts(holding lock: DeviceLock, durably: Bool = false) throws(Complaint) {
        try Complaint.wrap("cannot remove \(path)/\(Name.attempts.text)") { () throws(SystemError) in
            if try root.exists(Name.attempts) { try root.removeFile(Name.attempts) }
            if durably { try root.synchronizeEntries() }
        }
    }
}
