// How often the passcode was wrong, in a record of its own: it is written at every attempt.

import Platform
public import SandboxModel

/// An instant that no change of the host's clock moves: which boot of the host it is in, and how long after it.
public struct HostInstant: Equatable, Sendable {
    public let bootID: String
    /// CLOCK_BOOTTIME, which counts the time that the host sleeps as well.
    public let nanoseconds: Int64

    public init(bootID: String, nanoseconds: Int64) {
        self.bootID = bootID
        self.nanoseconds = nanoseconds
    }

    public static func now() throws(Complaint) -> HostInstant {
        let boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
        return HostInstant(bootID: boot, nanoseconds: MonotonicClock.nanosecondsSinceBoot)
    }
}

/// What Passcode.json holds. There is none while the last attempt was right.
public struct PasscodeAttempts: Codable, Equatable, Sendable {
    /// Attempts since the last right one. One that is under way is counted, so that to kill the process is no way out.
    public let wrong: Int
    /// When the last of them was, or, after a boot of the host, when this was first looked at.
    public let bootID: String
    public let nanoseconds: Int64

    private static let counts = 1...1_000_000_000

    public init(wrong: Int, at instant: HostInstant) {
        self.wrong = min(wrong, PasscodeAttempts.counts.upperBound)
        bootID = instant.bootID
        nanoseconds = instant.nanoseconds
    }

    fileprivate var isPossible: Bool { PasscodeAttempts.counts.contains(wrong) && nanoseconds >= 0 }
}

extension DeviceDirectory {
    /// - Returns: nil when the last attempt was right.
    /// - Throws: ``Complaint`` of kind `damaged`, because a record that cannot be read must not give free guesses.
    public func passcodeAttempts() throws(Complaint) -> PasscodeAttempts? {
        let file = "\(path)/\(Name.attempts.text)"
        let bytes = try Complaint.wrap("cannot read \(file)") { () throws(SystemError) in
            try DeviceFile(name: Name.attempts).read(in: root)
        }
        guard let bytes else { return nil }
        let attempts = try DeviceRecords.decode(PasscodeAttempts.self, from: bytes, file: file)
        guard attempts.isPossible else { throw DeviceRecords.damaged(file) }
        return attempts
    }

    /// Durable when it returns.
    public func replacePasscodeAttempts(
        with attempts: PasscodeAttempts, holding lock: DeviceLock
    ) throws(Complaint) {
        try replace(Name.attempts, with: try DeviceRecords.encode(attempts))
    }

    /// Forgets the wrong attempts. Not synchronized: a power cut in the moments after can bring the count back as it
    /// was, which is too high and never too low; and an unlock waits for the disk only once.
    public func clearPasscodeAttempts(holding lock: DeviceLock) throws(Complaint) {
        try Complaint.wrap("cannot remove \(path)/\(Name.attempts.text)") { () throws(SystemError) in
            if try root.exists(Name.attempts) { try root.removeFile(Name.attempts) }
        }
    }
}
