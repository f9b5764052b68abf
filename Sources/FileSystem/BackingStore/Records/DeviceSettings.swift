// The settings of a device, with their bounds and their defaults.

import DataProtection

/// The settings that were chosen at `create` or later. `erase` keeps them. nil stands for the usual value.
public struct DeviceSettings: Codable, Equatable, Sendable {
    /// The cost of a guess of the passcode, log2 N of scrypt; nil for a measured one.
    public var keyDerivationCost: Int?

    /// The grace period of a lock, in seconds.
    public var lockGrace: Double?

    /// The capacity in bytes; nil for that of the host's filesystem.
    public var capacity: Int64?

    /// The marks of ``SpaceMarks``, in percent.
    public var lowWater: Double?
    public var highWater: Double?

    /// Whether ten wrong passcodes erase the device; nil for no.
    public var eraseAfterTen: Bool?

    /// nil where nothing of it was ever changed.
    public var day: DaySettings?

    /// Whether, and how, the device disobeys; nil for one that does not.
    public var capricious: Capriciousness?

    /// Permitted values of ``lockGrace``: up to a day.
    public static let lockGraces = 0.0...86_400
    /// Permitted values of ``capacity``: 1 MiB to 1 EiB.
    public static let capacities = Int64(1 << 20)...Int64(1 << 60)

    public init(
        keyDerivationCost: Int? = nil, lockGrace: Double? = nil, capacity: Int64? = nil,
        capricious: Capriciousness? = nil
    ) {
        self.capricious = capricious
        self.keyDerivationCost = keyDerivationCost
        self.lockGrace = lockGrace
        self.capacity = capacity
    }

    /// nil if the chosen marks are impossible.
    public var marks: SpaceMarks? {
        SpaceMarks(low: lowWater ?? SpaceMarks.usual.low, high: highWater ?? SpaceMarks.usual.high)
    }

    /// Whether a version of the formats before 4 would drop a setting.
    var needsFormat4: Bool { eraseAfterTen != nil || capricious != nil || day != nil }

    /// Whether cost, grace period, capacity, marks and caprice are within their bounds. If not, the record is damaged.
    var isPossible: Bool {
        keyDerivationCost.map(PasscodeCost.levels.contains) ?? true
            && lockGrace.map(DeviceSettings.lockGraces.contains) ?? true
            && capacity.map(DeviceSettings.capacities.contains) ?? true && marks != nil
            && capricious?.isPossible ?? true && day?.isPossible ?? true
    }

    /// The grace period in seconds: ten as on iOS, unless chosen otherwise.
    public var lockGraceSeconds: Double { lockGrace ?? 10 }
}
