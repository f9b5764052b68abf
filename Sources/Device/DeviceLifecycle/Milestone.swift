// The kill points of operations, for tests.

/// The moments between the steps of an operation: at each, a process that ends leaves a whole device behind.
enum Milestone: String, CaseIterable, Sendable {
    // An installation.
    case stagedBundle, sealedBundle, stagedData, stagedShared, synchronized, movedOne, moved, registered
    // The removal of an app, and of what a restore has replaced.
    case unregistered, movedAway, removed
    // An update.
    case namedBoth, laidReady, exchangedOne, renamed, retiredBundle
    // A reset.
    case stagedReset, exchanged
    // A delivery.
    case stagedDelivery, madeInbox, deliveredOne
    // A passcode.
    case countedAttempt, provedPasscode, clearedAttempts, replacedKeybag, decidedErase

    /// Called when an operation has come to a milestone, on its thread and under its locks.
    typealias Observer = @Sendable (Milestone) -> Void
}
