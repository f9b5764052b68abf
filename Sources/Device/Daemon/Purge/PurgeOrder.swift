// What is asked of a purge, and what came of it.

import AppContainer
import SandboxModel
import SandboxPolicy

/// What one purge is to do.
struct PurgeOrder: Sendable {
    enum Extent: Sendable {
        /// Until so many bytes are available.
        case available(Int64)
        /// All that may go.
        case everything
        /// All that was not used for so many nanoseconds.
        case unused(for: Int64)
    }

    var extent: Extent
    /// The app of which alone something may go; nil for every one.
    var app: ContainerIdentifier?
    /// Only tell what would go.
    var isDryRun = false
    /// Whether somebody wants to know of what stays as well.
    var isReported = true

    init(_ extent: Extent, app: ContainerIdentifier? = nil, isDryRun: Bool = false, isReported: Bool = true) {
        self.extent = extent
        self.app = app
        self.isDryRun = isDryRun
        self.isReported = isReported
    }

    /// Bytes that are to be available; nil where it is not about that.
    var target: Int64? {
        if case .available(let bytes) = extent { bytes } else { nil }
    }
}

/// What came of a purge.
struct PurgeOutcome: Sendable {
    struct Purged: Sendable {
        let unit: PurgeUnit
        let reason: PurgeReason
        /// What came free, or, of a dry run, would.
        let bytes: Int64
    }

    struct Skipped: Sendable {
        let unit: PurgeUnit
        let reason: PurgeRefusal
    }

    /// In the order in which they went.
    var purged: [Purged] = []
    /// The least recently used first.
    var skipped: [Skipped] = []
    /// Whether more was wanted than may go.
    var isExhausted = false
    /// Available when it was over, or, of a dry run, would be.
    var available: Int64 = 0

    var freed: Int64 { purged.reduce(0) { $0 + $1.bytes } }

    /// What both purges did, of which the second looked at what the first one had left.
    func followed(by second: PurgeOutcome) -> PurgeOutcome {
        var both = second
        both.purged = purged + second.purged
        return both
    }
}

extension PurgeUnit {
    /// Relative to the app's home.
    var path: String { (directory.path + [name]).text }
}
