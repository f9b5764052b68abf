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
    /// The capacity of the device in bytes; 0 for that of the host's filesystem.
    var capacity: Int64
}
