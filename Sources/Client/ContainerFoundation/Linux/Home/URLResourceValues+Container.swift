// Resource values that Foundation on Linux lacks.

public import Foundation

extension URLResourceKey {
    /// The class of a file, or the class that a directory gives: a ``URLFileProtection``.
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
    /// Whether the volume has protection classes: a `Bool`.
    public static let volumeSupportsFileProtectionKey = URLResourceKey(rawValue: "NSURLVolumeSupportsFileProtectionKey")
    /// Bytes available for content that the user requested or the app needs: an `Int64`.
    public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(
        rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    /// Bytes available for content that the app only expects to need: an `Int64`.
    public static let volumeAvailableCapacityForOpportunisticUsageKey = URLResourceKey(
        rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
}

extension URLResourceValues {
    /// The class of a file, or the class that a directory gives; nil off a mount, and for items without a class.
    public var fileProtection: URLFileProtection? { addition(.fileProtectionKey) }

    /// Whether files have protection classes.
    public var volumeSupportsFileProtection: Bool? { addition(.volumeSupportsFileProtectionKey) }

    /// Bytes available for content that the user requested or the app needs. Purgeable space counts as free.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        addition(.volumeAvailableCapacityForImportantUsageKey)
    }

    /// Bytes available for content that the app only expects to need. Purgeable space does not count.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        addition(.volumeAvailableCapacityForOpportunisticUsageKey)
    }

    /// Bytes allocated for the file. Foundation on Linux multiplies `st_blocks` by the wrong block size.
    public var fileAllocatedSize: Int? { addition(.fileAllocatedSizeKey) ?? self.Foundation::fileAllocatedSize }

    /// Bytes allocated for the file and its metadata.
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

    /// The key in `quarantineProperties` that holds the additions: the structure takes no key that Foundation does not
    /// know, Linux has no quarantine, and these properties may hold any value.
    private static let place = "ContainerFoundation"

    private var additions: [URLResourceKey: Any] {
        quarantineProperties?[URLResourceValues.place] as? [URLResourceKey: Any] ?? [:]
    }

    private func addition<Value>(_ key: URLResourceKey) -> Value? { additions[key] as? Value }

    mutating func add(_ values: [URLResourceKey: Any]) {
        quarantineProperties = [URLResourceValues.place: values]
    }
}
