// The progress of operations on a device.

/// The progress of a long operation. A callback that gets it returns false to cancel the operation.
public struct DeviceProgress: Sendable {
    public enum Unit: Sendable {
        case bytes
        case files
    }

    public let unit: Unit
    public let completed: Int64
    /// nil if unknown.
    public let total: Int64?

    public init(unit: Unit, completed: Int64, total: Int64?) {
        self.unit = unit
        self.completed = completed
        self.total = total
    }
}
