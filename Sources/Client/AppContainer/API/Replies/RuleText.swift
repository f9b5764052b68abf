// The reply to a query for the rules.

/// A rule, by which a call is refused or a process ended, in words.
public struct RuleText: Codable, Hashable, Sendable {
    /// As in ``Event/rule``.
    public var rule: String
    /// The rule itself.
    public var words: String
    /// The advice: an alternative that is allowed.
    public var instead: String

    public init(rule: String, words: String, instead: String) {
        self.rule = rule
        self.words = words
        self.instead = instead
    }
}
