// The rules behind what was refused: equal refusals of the record told once, with what each rule says.

public import AppContainer
import SandboxModel

/// Refusals that differ in nothing but their time and the number of the process, and the rule behind them.
public struct Explanation: Codable, Hashable, Sendable {
    public var app: String?
    /// As in ``Event``.
    public var path: String?
    public var operation: String?
    public var process: String?
    /// That of the last one.
    public var pid: Int32?
    public var errno: String?
    public var rule: String
    /// What the rule says; nil for a rule that this version does not know.
    public var words: String?
    /// What to do instead.
    public var instead: String?
    /// How many there are in the record.
    public var count: Int
    /// How many the record leaves out, of the same process and rule. They may have been other calls, on other paths.
    public var omitted: Int?
    /// When the first and the last were, as events have it.
    public var first: String
    public var last: String

    private struct Kind: Hashable {
        let app: String?
        let path: String?
        let operation: String?
        let process: String?
        let rule: String
    }

    /// - Parameters:
    ///   - events: the oldest first.
    ///   - last: how many explanations are wanted.
    /// - Returns: the last ones, that of the last refusal at the end.
    public static func explanations(of events: some Sequence<Event>, last: Int) -> [Explanation] {
        var found: [Kind: Explanation] = [:]
        var order: [Kind: Int] = [:]
        // The last refusal by a rule of each process, which a count of what was left out belongs to.
        var latest: [String: Kind] = [:]
        for (index, event) in events.enumerated() where event.event == .refused {
            guard let rule = event.rule else { continue }
            let origin = "\(event.pid ?? 0) \(rule)"
            let own = Kind(
                app: event.app, path: event.path, operation: event.operation, process: event.process, rule: rule)
            let kind = event.isSummary ? latest[origin] ?? own : own
            latest[origin] = kind
            order[kind] = index
            found[kind, default: Explanation(event, rule)].add(event)
        }
        return order.sorted { $0.value < $1.value }.suffix(last).compactMap { found[$0.key] }
    }

    private init(_ event: Event, _ rule: String) {
        let known = Rule(rawValue: rule)
        app = event.app
        path = event.path
        operation = event.operation
        process = event.process
        errno = event.errno
        self.rule = rule
        words = known?.words
        instead = known?.instead
        count = 0
        first = event.time
        last = event.time
    }

    private mutating func add(_ event: Event) {
        if !event.isSummary { count += 1 }
        if let more = event.omitted { omitted = (omitted ?? 0) + more }
        pid = event.pid ?? pid
        last = event.time
    }
}
