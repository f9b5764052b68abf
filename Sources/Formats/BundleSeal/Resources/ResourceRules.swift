// The rules of CodeResources, which say which files of a bundle are sealed (Apple, TN2206, "Code Signing In Depth").

/// One rule: a pattern, and the treatment of the paths that match it.
struct ResourceRule: Equatable, Sendable {
    /// A POSIX extended regular expression (``PathPattern``).
    var pattern: String
    /// Of all rules that match a path, the one with the largest weight applies.
    var weight: Double = 1
    /// `omit`: matching paths are not sealed.
    var isOmitted = false
    /// `optional`: matching paths are sealed, but may be missing.
    var isOptional = false
    /// `nested`: matching paths are code with a signature of its own, sealed by its code directory hash.
    var isNested = false
}

/// All rules of one seal.
struct ResourceRules: Sendable {
    let rules: [ResourceRule]
    private let patterns: [PathPattern]

    /// The limit of the number of rules. Rules are untrusted.
    private static let most = 256
    /// The limit in bytes of all patterns together; those of codesign have four hundred.
    private static let longest = 8192

    /// Sorts and compiles rules.
    /// - Throws: ``SealFault`` for an invalid pattern, for a weight that is NaN, and for rules over the limits.
    init(_ rules: [ResourceRule]) throws(SealFault) {
        guard rules.count <= ResourceRules.most else { throw SealFault("more than \(ResourceRules.most) rules") }
        guard rules.reduce(0, { $0 + $1.pattern.utf8.count }) <= ResourceRules.longest else {
            throw SealFault("rules of more than \(ResourceRules.longest) bytes")
        }
        guard !rules.contains(where: \.weight.isNaN) else { throw SealFault("a rule of no weight that is a number") }
        // The heaviest first, so that the first match decides. Of equal weights codesign takes either; here the pattern
        // that sorts last wins, so that the result does not depend on the order in the property list.
        self.rules = rules.sorted { ($0.weight, $0.pattern) > ($1.weight, $1.pattern) }
        var patterns: [PathPattern] = []
        for rule in self.rules {
            guard let pattern = PathPattern(rule.pattern) else {
                throw SealFault("the rule \(rule.pattern.prefix(80)) cannot be used")
            }
            patterns.append(pattern)
        }
        self.patterns = patterns
    }

    /// The rule that applies to a path relative to the bundle; nil if none matches, so that the path is not sealed.
    func rule(for path: String) -> ResourceRule? {
        let path = Array(path.utf8)
        for (index, pattern) in patterns.enumerated() where pattern.matches(path) { return rules[index] }
        return nil
    }

    /// Rules of this file, which are valid.
    private init(known rules: [ResourceRule]) {
        do throws(SealFault) {
            try self.init(rules)
        } catch {
            preconditionFailure(error.reason)
        }
    }

    /// codesign's default rules for localizations, in both versions.
    private static let localized = [
        ResourceRule(pattern: #"^.*\.lproj/"#, weight: 1000, isOptional: true),
        ResourceRule(pattern: #"^.*\.lproj/locversion.plist$"#, weight: 1100, isOmitted: true),
        ResourceRule(pattern: #"^Base\.lproj/"#, weight: 1010),
    ]

    /// codesign's default rules of version 1 for a shallow bundle, such as an iOS app.
    static let version1 = ResourceRules(
        known: [ResourceRule(pattern: "^.*"), ResourceRule(pattern: "^version.plist$")] + localized)

    /// codesign's default rules of version 2, with its rule for nested code.
    static let version2 = ResourceRules(
        known: [
            ResourceRule(pattern: "^.*"),
            ResourceRule(
                pattern: "^(Frameworks|SharedFrameworks|PlugIns|Plug-ins|XPCServices|Helpers|MacOS|"
                    + "Library/(Automator|Spotlight|LoginItems))/",
                weight: 10, isNested: true),
            ResourceRule(pattern: #".*\.dSYM($|/)"#, weight: 11),
            ResourceRule(pattern: #"^(.*/)?\.DS_Store$"#, weight: 2000, isOmitted: true),
            ResourceRule(pattern: #"^Info\.plist$"#, weight: 20, isOmitted: true),
            ResourceRule(pattern: "^PkgInfo$", weight: 20, isOmitted: true),
            ResourceRule(pattern: #"^embedded\.provisionprofile$"#, weight: 20),
            ResourceRule(pattern: #"^version\.plist$"#, weight: 20),
        ] + localized)
}
