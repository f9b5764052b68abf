// The rules of the guidelines in words for people, which `audit` and `report` print of findings.

extension AuditRule {
    /// The fault, and its remedy.
    public var words: String {
        switch self {
        case .recreatableBackedUp:
            "can be made again, and would be backed up: exclude it, or move it to Library/Caches"
        case .documentNotBackedUp: "a document that would not be backed up: include it"
        case .documentExcluded: "excluded, which is right for a download: include what a person has made"
        case .documentReadableWhileLocked: "a document that a locked device gives away: protect it as complete"
        case .irreplaceablePurgeable:
            "cannot be made again, and may be purged: move it to Library/Application Support"
        case .irreplaceableLostByUpdate: "cannot be made again, and an update drops it: move it out of tmp"
        case .excludedDirectoryName:
            "an excluded directory of Library: name it after the bundle identifier"
        }
    }
}
