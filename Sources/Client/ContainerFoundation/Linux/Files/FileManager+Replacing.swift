// Putting a new item in the place of another. Foundation 6.3 on Linux renames the wrong way and loses the new content.

public import Foundation
import Platform
import SandboxModel

extension FileManager {
    /// Puts an item in the place of another, so that one of them is there at any time.
    ///
    /// Mode, class and attributes of the original go to the new item, where it has none of its own; the mark that keeps
    /// something out of backups does not. With `usingNewMetadataOnly` the new item stays as it is.
    /// - Parameters:
    ///   - newItemURL: what to put there; from another filesystem, and out of the Inbox, it is copied beside the original
    ///     first, which takes room for both.
    ///   - backupItemName: a name in the original's directory, under which the original is kept afterwards with
    ///     `withoutDeletingBackupItem`. What has the name before is removed when all is in its place.
    /// - Returns: where the new item is.
    /// - Throws: a `CocoaError`; `fileWriteNoPermission` where the device is locked for the original's class,
    ///   `fileWriteUnknown` where one item is in the other. Both items, and the backup of an earlier time, are where and
    ///   what they were then.
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

    /// Puts an item in the place of another: ``replaceItemAt(_:withItemAt:backupItemName:options:)``.
    public func replaceItem(
        at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String?,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        try replaceItemAt(
            originalItemURL, withItemAt: newItemURL, backupItemName: backupItemName, options: options)
    }
}
