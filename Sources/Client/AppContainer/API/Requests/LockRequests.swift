// Requests that lock, unlock and restart the device, and that change its passcode.

/// Locks the device: after the grace period, unless `now` is true.
public struct LockRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "lock"

    /// Skips the grace period; false when null.
    public var now: Bool?
    /// Whether the response comes when the device is locked, rather than when the lock is announced. True when null.
    public var wait: Bool?

    public init(now: Bool = false, wait: Bool = true) {
        self.now = now
        self.wait = wait
    }

    public func check() {}
}

/// Unlocks the device with its passcode.
public struct UnlockRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "unlock"

    public var passcode: String

    public init(passcode: String) {
        self.passcode = passcode
    }

    public func check() {}
}

/// Restarts the device, as a reboot does. With a passcode it is before its first unlock afterwards.
public struct RestartRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "restart"
    public static let isRepeatable = false

    public init() {}

    public func check() {}
}

/// Sets, changes or removes the passcode.
public struct PasscodeRequest: ControlRequest {
    public typealias Reply = Done
    public static let path = "passcode"
    public static let isRepeatable = false

    public enum Action: String, Codable, CaseIterable, Sendable {
        /// Sets `new` on a device without a passcode. The device stays unlocked.
        case set
        /// Replaces `old` by `new`. The device keeps its state.
        case change
        /// Removes `old`. The device is unlocked afterwards.
        case remove
    }

    public var action: Action
    /// The present passcode, for `change` and `remove`.
    public var old: String?
    /// The new passcode, for `set` and `change`.
    public var new: String?
    /// Whether ten wrong passcodes erase the device; null leaves that as it is.
    public var eraseAfterTen: Bool?

    public init(_ action: Action, old: String? = nil, new: String? = nil, eraseAfterTen: Bool? = nil) {
        self.eraseAfterTen = eraseAfterTen
        self.action = action
        self.old = old
        self.new = new
    }

    public func check() throws(DeviceError) {
        try check(old, "old", isNeeded: action != .set)
        try check(new, "new", isNeeded: action != .remove)
        if let new { try requireOneLine(new, "passcode") }
    }

    private func check(_ passcode: String?, _ name: String, isNeeded: Bool) throws(DeviceError) {
        guard (passcode != nil) != isNeeded else { return }
        throw DeviceError(.badRequest, "passcode: \(action.rawValue) \(isNeeded ? "needs" : "takes no") \"\(name)\"")
    }
}
