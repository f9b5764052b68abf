// Which files of a bundle are sealed: the rules of CodeResources (Apple, TN2206, "Code Signing In Depth").

/// One rule: a pattern, and what becomes of the paths that match it.
struct ResourceRule: Equatable, Sendable {
    var pattern: String
    /// Of all rules that match a path, the one with the largest weight decides.
    var weight: Double = 1
    /// Not sealed at all.
    var isOmitted = false
    /// Sealed, but may be missing.
    var isOptional = false
    /// Code that is signed by itself and referred to by its signature.
    var isNested = false
}

/// All rules of one seal.
struct ResourceRules: Sendable {
    let rules: [ResourceRule]
    private let patterns: [PathPattern]

    private static let most = 256
    /// Bytes of all patterns together: codesign's own have four hundred.
    private static let longest = 8192

    /// - Throws: ``SealFault`` for a pattern that is no regular expression, or one that nobody would wait for.
    init(_ rules: [ResourceRule]) throws(SealFault) {
        guard rules.count <= ResourceRules.most else { throw SealFault("more than \(ResourceRules.most) rules") }
        guard rules.reduce(0, { $0 + $1.pattern.utf8.count }) <= ResourceRules.longest else {
            throw SealFault("rules of more than \(ResourceRules.longest) bytes")
        }
        guard !rules.contains(where: \.weight.isNaN) else { throw SealFault("a rule of no weight that is a number") }
        // The heaviest first, so that the first match decides. Of equal weights codesign takes either; here it is the
        // one whose pattern comes last, so that the answer does not depend on the order in the property list.
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

    /// The rule that decides about a path, relative to the bundle; nil where none matches, and nothing is sealed.
    func rule(for path: String) -> ResourceRule? {
        let path = Array(path.utf8)
        for (index, pattern) in patterns.enumerated() where pattern.matches(path) { return rules[index] }
        return nil
    }

    private init(known rules: [ResourceRule]) {
        do throws(SealFault) {
            try self.init(rules)
        } catch {
            preconditionFailure(error.reason)
        }
    }

    private static let localized = [
        ResourceRule(pattern: #"^.*\.lproj/"#, weight: 1000, isOptional: true),
        ResourceRule(pattern: #"^.*\.lproj/locversion.plist$"#, weight: 1100, isOmitted: true),
        ResourceRule(pattern: #"^Base\.lproj/"#, weight: 1010),
    ]

    /// codesign's own for version 1 of a bundle whose files lie at its top, as an iOS app's do.
    static let version1 = ResourceRules(
        known: [ResourceRule(pattern: "^.*"), ResourceRule(pattern: "^version.plist$")] + localized)

    /// codesign's own for version 2, with its rule for nested code.
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
