// A note as it lies in the database.

public import Foundation
public import GRDB

public struct Note: Codable, Hashable, Sendable, FetchableRecord, MutablePersistableRecord {
    public internal(set) var id: Int64?
    public var text: String
    public var changed: Date

    public init(_ text: String, changed: Date = .now) {
        self.text = text
        self.changed = changed
    }

    public mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}
