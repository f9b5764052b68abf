// Resource values that Foundation on Linux has no room for.

public import Foundation

extension URLResourceKey {
    /// The class of a file, or of a directory the one that it gives: a ``URLFileProtection``.
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
    /// Whether there are such classes: a `Bool`.
    public static let volumeSupportsFileProtectionKey = URLResourceKey(rawValue: "NSURLVolumeSupportsFileProtectionKey")
    /// Bytes that can be stored of what the user asked for, or the app needs: an `Int64`.
    public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(
        rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    /// Bytes that can be stored of what the app only expects to need: an `Int64`.
    public static let volumeAvailableCapacityForOpportunisticUsageKey = URLResourceKey(
        rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
}

extension URLResourceValues {
    /// The class of a file, or of a directory the one that it gives; nil off a mount, and where there is none.
    public var fileProtection: URLFileProtection? { addition(.fileProtectionKey) }

    /// Whether files have protection classes.
    public var volumeSupportsFileProtection: Bool? { addition(.volumeSupportsFileProtectionKey) }

    /// Bytes that can be stored of what the user asked for, or the app needs: what may be purged counts as free.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        addition(.volumeAvailableCapacityForImportantUsageKey)
    }

    /// Bytes that can be stored of what the app only expects to need, so that nothing has to be purged for it.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        addition(.volumeAvailableCapacityForOpportunisticUsageKey)
    }

    /// Bytes that the file takes. Foundation on Linux counts blocks of another size than those that the system counts in.
    public var fileAllocatedSize: Int? { addition(.fileAllocatedSizeKey) ?? self.Foundation::fileAllocatedSize }

    /// Bytes that the file takes, with all that belongs to it.
    public var totalFileAllocatedSize: Int? {
        addition(.totalFileAllocatedSizeKey) ?? self.Foundation::totalFileAllocatedSize
    }

    /// All values by their keys.
    public var allValues: [URLResourceKey: Any] {
        var values = self.Foundation::allValues
        for (key, value) in additions { values[key] = value }
        if !additions.isEmpty { values[.quarantinePropertiesKey] = nil }
        return values
    }

    /// The structure takes no key that Foundation does not know. Linux has no quarantine, and its properties may be any.
    private static let place = "ContainerFoundation"

    private var additions: [URLResourceKey: Any] {
        quarantineProperties?[URLResourceValues.place] as? [URLResourceKey: Any] ?? [:]
    }

    private func addition<Value>(_ key: URLResourceKey) -> Value? { additions[key] as? Value }

    mutating func add(_ values: [URLResourceKey: Any]) {
        quarantineProperties = [URLResourceValues.place: values]
    }
}
