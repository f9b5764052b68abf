// Replacing items. `replaceItemAt` of Foundation 6.3 on Linux renames the wrong way and loses the new content.

public import Foundation
import Platform
import SandboxModel

extension FileManager {
    /// Replaces an item by another. At any time one of the two is in place.
    ///
    /// The new item takes over mode, class and attributes of the original that it has not itself, but not its exclusion
    /// from backups. With `usingNewMetadataOnly` it takes over nothing.
    /// - Parameters:
    ///   - originalItemURL: the item that is replaced.
    ///   - newItemURL: the new item. From another filesystem, or out of the Inbox, it is copied beside the original
    ///     first, which takes space for both.
    ///   - backupItemName: the name under which the original is kept in its directory with `withoutDeletingBackupItem`.
    ///     An item of that name is removed at the end.
    ///   - options: `usingNewMetadataOnly` and `withoutDeletingBackupItem`.
    /// - Returns: the URL of the new item.
    /// - Throws: a `CocoaError`; `fileWriteNoPermission` if the device is locked for the original's class,
    ///   `fileWriteUnknown` if one item contains the other. Both items and an earlier backup are then unchanged.
    public func replaceItemAt(
        _ originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String? = nil,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        let replacement = ItemReplacement(
            original: originalItemURL.path, new: newItemURL.path,
            backup: backupItemName, keepsBackup: options.contains(.withoutDeletingBackupItem),
            carriesMetadata: !options.contains(.usingNewMetadataOnly))
        try replacement.run()
        return originalItemURL
    }

    /// Calls ``replaceItemAt(_:withItemAt:backupItemName:options:)``.
    public func replaceItem(
        at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String?,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        try replaceItemAt(
            originalItemURL, withItemAt: newItemURL, backupItemName: backupItemName, options: options)
    }
}
