// Resource rules: the paths that they seal, and the rules that are refused.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BundleSeal

@Suite struct ResourceRulesTests {
    /// The treatment of a path, as letters for the table.
    private func fate(_ rules: ResourceRules, _ path: String) -> String {
        guard let rule = rules.rule(for: path) else { return "none" }
        if rule.isOmitted { return "omit" }
        return rule.isNested ? "nested" : rule.isOptional ? "optional" : "seal"
    }

    /// A path, and its treatment by the rules of versions 1 and 2.
    static let table = [
        ("readme.txt", "seal", "seal"), ("a/b/c/d", "seal", "seal"), ("", "seal", "seal"), ("\n", "seal", "seal"),
        ("Übung ✎/ß", "seal", "seal"), (String(repeating: "x/", count: 2000) + "x", "seal", "seal"),
        (".DS_Store", "seal", "omit"), ("a/.DS_Store", "seal", "omit"), ("a/b/.DS_Store", "seal", "omit"),
        ("a.DS_Store", "seal", "seal"), (".DS_Store/a", "seal", "seal"), (".DS_Storex", "seal", "seal"),
        ("\n/.DS_Store", "seal", "omit"), ("en.lproj/.DS_Store", "optional", "omit"),
        ("Frameworks/.DS_Store", "seal", "omit"),
        ("Info.plist", "seal", "omit"), ("a/Info.plist", "seal", "seal"), ("Info.plist/a", "seal", "seal"),
        ("InfoXplist", "seal", "seal"), ("info.plist", "seal", "seal"), ("en.lproj/Info.plist", "optional", "optional"),
        ("PkgInfo", "seal", "omit"), ("PkgInfo2", "seal", "seal"), ("a/PkgInfo", "seal", "seal"),
        ("embedded.provisionprofile", "seal", "seal"), ("a/embedded.provisionprofile", "seal", "seal"),
        ("version.plist", "seal", "seal"), ("versionXplist", "seal", "seal"),
        ("en.lproj/x", "optional", "optional"), ("en.lproj/a/b", "optional", "optional"),
        ("a/en.lproj/x", "optional", "optional"), (".lproj/x", "optional", "optional"),
        ("en.lproj", "seal", "seal"), ("enXlproj/x", "seal", "seal"), ("en.lprojx/x", "seal", "seal"),
        ("Base.lproj/x", "seal", "seal"), ("a/Base.lproj/x", "optional", "optional"),
        ("BaseXlproj/x", "seal", "seal"), ("Base.lproj/en.lproj/x", "seal", "seal"),
        ("en.lproj/Base.lproj/x", "optional", "optional"),
        ("en.lproj/locversion.plist", "omit", "omit"), ("Base.lproj/locversion.plist", "omit", "omit"),
        ("a/en.lproj/locversion.plist", "omit", "omit"), ("en.lproj/locversionXplist", "omit", "omit"),
        ("en.lproj/a/locversion.plist", "optional", "optional"), ("locversion.plist", "seal", "seal"),
        ("Frameworks/a", "seal", "nested"), ("Frameworks/a.framework/a", "seal", "nested"),
        ("Frameworks", "seal", "seal"),
        ("frameworks/a", "seal", "seal"), ("a/Frameworks/a", "seal", "seal"), ("SharedFrameworks/a", "seal", "nested"),
        ("PlugIns/a", "seal", "nested"), ("Plug-ins/a", "seal", "nested"), ("XPCServices/a", "seal", "nested"),
        ("Helpers/a", "seal", "nested"), ("MacOS/a", "seal", "nested"), ("Library/Spotlight/a", "seal", "nested"),
        ("Library/Automator/a", "seal", "nested"), ("Library/LoginItems/a", "seal", "nested"),
        ("Library/Other/a", "seal", "seal"), ("Frameworks/en.lproj/a", "optional", "optional"),
        ("Frameworks/a.dSYM", "seal", "seal"), ("Frameworks/a.dSYM/b", "seal", "seal"),
        ("Frameworks/a.dSYMs/b", "seal", "nested"), ("a.dSYM/b", "seal", "seal"), ("Watch/a.app/a", "seal", "seal"),
    ]

    @Test(arguments: table) func `the usual rules seal what codesign seals`(path: String, old: String, new: String) {
        #expect(fate(ResourceRules.version1, path) == old)
        #expect(fate(ResourceRules.version2, path) == new)
    }

    @Test func `the heaviest rule that matches decides`() throws {
        let light = ResourceRule(pattern: "^a", weight: 1, isOmitted: true)
        let heavy = ResourceRule(pattern: "a$", weight: 1.5, isOptional: true)
        let none = ResourceRule(pattern: "^abba$", weight: -3, isNested: true)
        for rules in [[light, heavy, none], [none, heavy, light], [heavy, none, light]] {
            let rules = try ResourceRules(rules)
            #expect(rules.rule(for: "abba") == heavy)
            #expect(rules.rule(for: "ab") == light)
            #expect(rules.rule(for: "ba") == heavy)
            #expect(rules.rule(for: "b") == nil)
        }
        // Of equal weights, the same rule in any order.
        let twin = ResourceRule(pattern: "b$", isNested: true)
        for rules in [[light, twin], [twin, light]] { #expect(try ResourceRules(rules).rule(for: "ab") == twin) }
        let heaviest = ResourceRule(pattern: "b", weight: .infinity)
        #expect(try ResourceRules([light, heaviest, heavy]).rule(for: "abba") == heaviest)
        // NaN cannot be compared.
        #expect(throws: SealFault.self) { try ResourceRules([light, ResourceRule(pattern: "b", weight: .nan), heavy]) }
        #expect(try ResourceRules([]).rule(for: "a") == nil)
    }

    // MARK: Expressions

    static let refused = [
        "a{2}", "{", "a{1000}{1000}", "(a)\\1", "\\9", "(", "(()", ")", "a)", "[", "[a", "[]", "[^]", "[b-a]", "*",
        "+a",
        "?", "|*", "(*a)", "^*", "$+", "a\u{0}", "\\", "\\w", "\\b", "\\<a", "\\`", "[[:nonsense:]]", "[[:alpha]",
        "[[.a.]]", "[[=a=]]", "[[:", String(repeating: "a", count: 513),
    ]

    @Test(arguments: refused) func `an expression that is not portable is refused`(pattern: String) {
        #expect(PathPattern(pattern) == nil)
        #expect(throws: SealFault.self) { try ResourceRules([ResourceRule(pattern: pattern)]) }
    }

    @Test func `there are limits to rules`() throws {
        let one = ResourceRule(pattern: "a")
        _ = try ResourceRules([ResourceRule](repeating: one, count: 256))
        #expect(throws: SealFault.self) { try ResourceRules([ResourceRule](repeating: one, count: 257)) }
        let long = ResourceRule(pattern: String(repeating: "a", count: 512))
        _ = try ResourceRules([ResourceRule](repeating: long, count: 16))
        #expect(throws: SealFault.self) { try ResourceRules([ResourceRule](repeating: long, count: 17)) }
    }

    @Test func `an expression that means to take all time or memory takes neither`() throws {
        let nested = String(repeating: "(", count: 127) + "a" + String(repeating: "+)", count: 127)
        let many = [
            nested, nested.replacing("+", with: "*"), nested.replacing("+)", with: "?)+"),
            "a" + String(repeating: "+", count: 500), ".*a" + String(repeating: ".", count: 500),
            String(repeating: "a?", count: 250), String(repeating: "(a|b|)*", count: 60), "(a*)*(a*)*(a*)*b$",
            String(repeating: "(^|a)", count: 100), String(repeating: ".*", count: 250) + "x$",
            String(repeating: "|", count: 500),
        ]
        var chance = SeededGenerator(seed: 1)
        let path = String((0..<300).map { _ in "ab".randomElement(using: &chance)! })
        let clock = ContinuousClock()
        let took = try clock.measure {
            for pattern in many {
                let pattern = try #require(PathPattern(pattern))
                _ = pattern.matches(path)
                _ = pattern.matches("")
            }
        }
        #expect(took < .seconds(10))
    }

    /// The result of the C library; nil for an expression that it refuses.
    private func libraryMatches(_ pattern: String, _ paths: [String]) -> [Bool]? {
        var expression = unsafe regex_t()
        guard unsafe regcomp(&expression, pattern, REG_EXTENDED | REG_NOSUB) == 0 else { return nil }
        defer { unsafe regfree(&expression) }
        return paths.map { path in unsafe regexec(&expression, path, 0, nil, 0) == 0 }
    }

    @Test func `a line's end is a byte as others are`() {
        #expect(PathPattern("^a$")?.matches("x\na\nx") == false)
        #expect(PathPattern("a.x$")?.matches("x\na\nx") == true)
        // The C library treats newlines differently.
        #expect(PathPattern(".^")?.matches("\n") == false)
    }

    @Test func `expressions match what they match in the C library`() {
        let parts = [
            "a", "b", "/", ".", "^", "$", "(", ")", "|", "*", "+", "?", "[ab]", "[^a]", "[a-c/]", "[]a]", "[^]/]",
            "[a-]",
            "[[:alpha:]]", "[^[:digit:]x]", "[[:punct:][:space:]]", "\\.", "\\(", "\\*", "]", "}", ".*", "(a|b)",
            "(^|.*/)", "é",
        ]
        var chance = SeededGenerator(seed: 7)
        let paths =
            ["", "a", "b", "/", "a/b", "ab.c", "(a)", "é", "1", "]", "-"]
            + (0..<20).map { _ in
                String(
                    (0..<Int.random(in: 1...8, using: &chance)).map { _ in "ab/.(*é1] ".randomElement(using: &chance)! }
                )
            }
        var understood = 0
        for _ in 0..<6000 {
            let pattern = (0..<Int.random(in: 1...7, using: &chance)).map { _ in parts.randomElement(using: &chance)! }
                .joined()
            guard let mine = PathPattern(pattern) else { continue }
            understood += 1
            #expect(paths.map { mine.matches($0) } == libraryMatches(pattern, paths), "\(pattern)")
        }
        #expect(understood > 2000, "\(understood)")
    }
}
