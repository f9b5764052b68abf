// Refusals of the record in words: equal ones together, with the rule that refused them. So are the ends of processes
// that were suspended with a lock.

public import AppContainer
import SandboxModel

/// Refusals that differ in nothing but their time and the number of the process, and the rule behind them.
public struct Explanation: Codable, Hashable, Sendable {
    public var app: String?
    /// As in ``Event``.
    public var path: String?
    /// As in ``Event``.
    public var pathCut: Int?
    public var operation: String?
    public var process: String?
    /// That of the last one.
    public var pid: Int32?
    public var errno: String?
    public var rule: String
    /// The rule in words; nil for a rule that this version does not know.
    public var words: String?
    /// The advice of the rule.
    public var instead: String?
    /// The kind of the lock with which a process was suspended. Its rule is `0xdead10cc`.
    public var lock: String?
    /// The number of these refusals in the record.
    public var count: Int
    /// The number of refusals of the same process and rule that the record leaves out, perhaps of other calls and
    /// paths.
    public var omitted: Int?
    /// The times of the first and the last one, as in ``Event``.
    public var first: String
    public var last: String

    /// The features in which equal refusals agree.
    private struct Kind: Hashable {
        let app: String?
        let path: String?
        let pathCut: Int?
        let operation: String?
        let process: String?
        let rule: String
        let lock: String?
    }

    /// - Parameters:
    ///   - events: the oldest first.
    ///   - last: the number of explanations to return.
    /// - Returns: the explanations of the latest refusals, the latest at the end.
    public static func explanations(of events: some Sequence<Event>, last: Int) -> [Explanation] {
        var found: [Kind: Explanation] = [:]
        var order: [Kind: Int] = [:]
        // The latest refusal of each process and rule: a count of omitted refusals belongs to it.
        var latest: [String: Kind] = [:]
        for (index, event) in events.enumerated() {
            guard let rule = rule(of: event) else { continue }
            let origin = "\(event.pid ?? 0) \(rule)"
            let own = Kind(
                app: event.app, path: event.path, pathCut: event.pathCut, operation: event.operation,
                process: event.process, rule: rule, lock: event.lock)
            let kind = event.isSummary ? latest[origin] ?? own : own
            latest[origin] = kind
            order[kind] = index
            found[kind, default: Explanation(event, rule)].add(event)
        }
        return order.sorted { $0.value < $1.value }.suffix(last).compactMap { found[$0.key] }
    }

    /// - Returns: nil for an event that needs no explanation.
    private static func rule(of event: Event) -> String? {
        switch event.event {
        case .refused: event.rule
        case .terminated where event.reason == SuspensionBreach.reason: SuspensionBreach.reason
        default: nil
        }
    }

    static let wordsOfLock =
        "an app that is suspended with a lock on a file in a group container is killed, because the other apps of the group "
        + "would wait for it"
    static let insteadOfLock =
        "end the transaction, or release the lock, before the suspension: beginBackgroundTask gives the time, and with GRDB "
        + "observesSuspensionNotifications and Database.suspendNotification end what is under way; or keep the file in the "
        + "app's own container; a file that may stay locked has the attribute \(LockedFile.exemption)"

    private init(_ event: Event, _ rule: String) {
        let known = Rule(rawValue: rule)
        app = event.app
        path = event.path
        pathCut = event.pathCut
        operation = event.operation
        process = event.process
        errno = event.errno
        self.rule = rule
        let isOfLock = event.event == .terminated
        words = isOfLock ? Explanation.wordsOfLock : known?.words
        instead = isOfLock ? Explanation.insteadOfLock : known.map { Explanation.instead(of: $0, event) }
        lock = event.lock
        count = 0
        first = event.time
        last = event.time
    }

    /// The advice of a rule, and for chattr(1) on a closed file one more: to set the flag of a file, chattr opens it.
    private static func instead(of rule: Rule, _ event: Event) -> String {
        guard rule == .dataProtection, event.process == "chattr" || event.process == "lsattr" else {
            return rule.instead
        }
        return "\(rule.instead); to keep a file out of backups, whatever the state: appcontainer exclude"
    }

    /// Adds a refusal, or the count of some that were left out. Events come the oldest first.
    private mutating func add(_ event: Event) {
        if !event.isSummary { count += 1 }
        // The record may have been written by somebody else: no sum of its numbers may end the command.
        if let more = event.omitted { omitted = (omitted ?? 0).addingClamped(more) }
        pid = event.pid ?? pid
        last = event.time
    }
}
