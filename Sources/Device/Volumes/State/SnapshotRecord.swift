// The record of a snapshot, in JSON.

import Foundation

/// A snapshot: a device as it was, which volumes are made of.
struct SnapshotRecord: StoredRecord {
    static let currentFormat = 1
    static let noun = "snapshot"

    var format = SnapshotRecord.currentFormat
    var name: String
    /// The volume that it was made of.
    var volume: String
    /// Nanoseconds since 1970.
    var created: Int64
    /// Bytes of all files of the device.
    var size: Int64
}
