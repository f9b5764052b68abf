// Reads and sets resource values of files, for `URL` and `NSURL`.

public import Foundation
import Platform
import SandboxModel

extension URL {
    /// Reads values of the file. On a mount these include `isExcludedFromBackup`, `fileProtection` and the capacities.
    ///
    /// - Throws: a `CocoaError`: `fileReadNoSuchFile` if there is no file.
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        var values = try self.Foundation::resourceValues(forKeys: keys)
        var additions = try containerValues(of: keys)
        if let isExcluded = additions.removeValue(forKey: .isExcludedFromBackupKey) as? Bool {
            values.isExcludedFromBackup = isExcluded
        }
        if !additions.isEmpty { values.add(additions) }
        return values
    }

    /// Sets the values that were set in `values`.
    ///
    /// Set `isExcludedFromBackup` after each save: an atomic save replaces the file by one that is not excluded.
    /// - Throws: a `CocoaError`: `fileNoSuchFile` if there is no file.
    public mutating func setResourceValues(_ values: URLResourceValues) throws {
        if !values.allValues.isEmpty { try requireItem() }
        try self.Foundation::setResourceValues(values)
        if let isExcluded = values.isExcludedFromBackup {
            try setContainerValue(isExcluded, for: .isExcludedFromBackupKey)
        }
    }
}

extension NSURL {
    /// Reads values of the file.
    public func resourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        let values = try self.Foundation::resourceValues(forKeys: keys)
        return values.merging(try (self as URL).containerValues(of: Set(keys))) { $1 }
    }

    /// Reads a value of the file; nil if it has none.
    ///
    /// - Throws: a `CocoaError`: `fileReadNoSuchFile` if there is no file.
    public func getResourceValue(_ value: inout AnyObject?, forKey key: URLResourceKey) throws {
        if let known = try (self as URL).containerValues(of: [key])[key] {
            value = known as AnyObject
        } else {
            try self.Foundation::getResourceValue(&value, forKey: key)
        }
    }

    /// Sets a value of the file, such as ``URLFileProtection/complete`` for `fileProtectionKey`.
    ///
    /// - Throws: a `CocoaError`: `fileNoSuchFile` if there is no file.
    public func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
        try (self as URL).requireItem()
        try (self as URL).setContainerValue(value, for: key)
        try self.Foundation::setResourceValue(value, forKey: key)
    }

    /// Sets values of the file.
    ///
    /// - Throws: a `CocoaError`: `fileNoSuchFile` if there is no file.
    public func setResourceValues(_ keyedValues: [URLResourceKey: Any]) throws {
        if !keyedValues.isEmpty { try (self as URL).requireItem() }
        for (key, value) in keyedValues { try (self as URL).setContainerValue(value, for: key) }
        try self.Foundation::setResourceValues(keyedValues)
    }
}

extension URL {
    private static let capacities: [URLResourceKey: SpaceUsage] = [
        .volumeAvailableCapacityForImportantUsageKey: .important,
        .volumeAvailableCapacityForOpportunisticUsageKey: .opportunistic,
    ]

    private static let allocatedSizes: Set<URLResourceKey> = [.fileAllocatedSizeKey, .totalFileAllocatedSizeKey]

    /// Values that a mount knows better than Foundation.
    private static let mountedKeys = allocatedSizes.union([
        .isExcludedFromBackupKey, .fileProtectionKey, .volumeSupportsFileProtectionKey,
    ])

    /// Checks that the file exists, because Foundation on Linux does so only for values that it knows.
    fileprivate func requireItem() throws(CocoaError) {
        guard isFileURL else { return }
        _ = try onItem(path) { () throws(SystemError) in
            try HostPath.status(path, following: false)
        }
    }

    fileprivate func containerValues(of keys: Set<URLResourceKey>) throws -> [URLResourceKey: Any] {
        var values: [URLResourceKey: Any] = [:]
        guard isFileURL else { return values }
        for (key, usage) in URL.capacities where keys.contains(key) {
            values[key] = try availableCapacity(for: usage)
        }
        guard !keys.isDisjoint(with: URL.mountedKeys) else { return values }
        let status = try onItem(path, reading: true) { () throws(SystemError) in
            try HostPath.status(path, following: false)
        }
        // Resource values of a symbolic link are its own.
        guard let item = MountedItem(path, following: false) else { return values }
        if keys.contains(.volumeSupportsFileProtectionKey) { values[.volumeSupportsFileProtectionKey] = true }
        for key in URL.allocatedSizes.intersection(keys) { values[key] = Int(status.blocks * 512) }
        try onItem(item.path, reading: true) { () throws(SystemError) in
            if keys.contains(.isExcludedFromBackupKey) {
                values[.isExcludedFromBackupKey] = try item.isExcludedFromBackup()
            }
            if keys.contains(.fileProtectionKey) {
                values[.fileProtectionKey] = try item.protection()?.urlFileProtection
            }
        }
        return values
    }

    /// The capacity that the mount reports; elsewhere the free space of the filesystem.
    private func availableCapacity(for usage: SpaceUsage) throws -> Int64? {
        if let home = Home(around: path), let capacity = home.availableCapacity(for: usage) { return capacity }
        let values = try self.Foundation::resourceValues(forKeys: [.volumeAvailableCapacityKey])
        return values.volumeAvailableCapacity.map { Int64($0) }
    }

    fileprivate func setContainerValue(_ value: Any?, for key: URLResourceKey) throws {
        guard key == .isExcludedFromBackupKey || key == .fileProtectionKey, let value, isFileURL,
            let item = MountedItem(path, following: false)
        else { return }
        try onItem(item.path) { () throws(SystemError) in
            if key == .fileProtectionKey {
                try item.setProtection(try ProtectionClass(foundationValue: value))
            } else {
                guard let isExcluded = value as? Bool ?? (value as? NSNumber)?.boolValue else { throw .invalid }
                try item.setExcludedFromBackup(isExcluded)
            }
        }
    }
}
