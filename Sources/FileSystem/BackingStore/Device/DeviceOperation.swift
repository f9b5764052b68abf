// What operations on a device tell while they go on.

/// How far a long operation is. A callback that takes it answers false to cancel the operation.
public struct DeviceProgress: Sendable {
    public enum Unit: Sendable {
        case bytes
        case files
    }

    public let unit: Unit
    public let completed: Int64
    /// nil when the end is not known.
    public let total: Int64?

    public init(unit: Unit, completed: Int64, total: Int64?) {
        self.unit = unit
        self.completed = completed
        self.total = total
    }
}
