// Tests of entitlements: what a device reads in them, and what a profile allows.

import Foundation
import SandboxModel
import Testing

@Suite struct EntitlementsTests {
    private typealias Key = Entitlements.Key

    @Test func `groups and iCloud containers are each there once, in their order`() throws {
        let entitlements = Entitlements([
            Key.applicationGroups: .array([.string("group.b"), .string("group.a"), .string("group.b")]),
            Key.iCloudContainers: .array([.string("iCloud.one")]),
            Key.ubiquityContainers: .array([.string("iCloud.one"), .string("iCloud.two")]),
        ])
        #expect(try entitlements.groups.map(\.text) == ["group.b", "group.a"])
        #expect(try entitlements.iCloudContainers.map(\.text) == ["iCloud.one", "iCloud.two"])
        #expect(try entitlements.defaultProtection == nil)
        #expect(try entitlements.applicationIdentifier == nil)
    }

    @Test func `the default class is that of its name`() throws {
        for protection in ProtectionClass.allCases {
            let entitlements = Entitlements([Key.defaultDataProtection: .string(protection.foundationName)])
            #expect(try entitlements.defaultProtection == protection)
        }
    }

    @Test func `values that no device can act upon are named`() {
        let wrong: [(String, EntitlementValue)] = [
            (Key.applicationGroups, .boolean(true)), (Key.applicationGroups, .array([.integer(1)])),
            (Key.applicationGroups, .array([.string("../escape")])), (Key.iCloudContainers, .string("")),
            (Key.defaultDataProtection, .string("complete")), (Key.defaultDataProtection, .integer(1)),
        ]
        for (key, value) in wrong {
            let flaw = #expect(throws: Entitlements.Flaw.self) {
                let entitlements = Entitlements([key: value])
                _ = try (entitlements.groups, entitlements.iCloudContainers, entitlements.defaultProtection)
            }
            #expect(flaw?.reason.hasPrefix(key) == true)
        }
    }

    @Test func `a value decodes alike wherever it lies, down to its deepest level`() throws {
        /// A text in that many levels, its own included.
        func nested(_ levels: Int) -> EntitlementValue {
            (1..<levels).reduce(.string("text")) { inner, level in
                level.isMultiple(of: 2) ? .array([inner]) : .dictionary(["key": inner])
            }
        }
        typealias Far = [String: [[String: [[String: [EntitlementValue]]]]]]
        for (levels, isRead) in [(1, true), (4, true), (12, true), (16, true), (17, false), (18, false), (40, false)] {
            let value = nested(levels)
            let near = try? JSONDecoder().decode(EntitlementValue.self, from: JSONEncoder().encode(value))
            #expect(near == (isRead ? value : nil), "\(levels) levels")
            let far: Far = ["7": [["a": [["b": [value]]]]]]
            let again = try? JSONDecoder().decode(Far.self, from: JSONEncoder().encode(far))
            #expect(again == (isRead ? far : nil), "\(levels) levels below others")
        }
    }

    @Test func `an app has at most so many groups and iCloud containers`() throws {
        func texts(_ count: Int) -> EntitlementValue { .array((0..<count).map { .string("group.\($0)") }) }
        for key in [Key.applicationGroups, Key.iCloudContainers, Key.ubiquityContainers] {
            for (count, isTaken) in [(256, true), (257, false)] {
                let entitlements = Entitlements([key: texts(count)])
                let taken = try? (entitlements.groups, entitlements.iCloudContainers)
                #expect((taken != nil) == isTaken, "\(count) in \(key)")
            }
        }
        // Doubles do not count.
        let doubled = Entitlements([Key.iCloudContainers: texts(256), Key.ubiquityContainers: texts(256)])
        #expect(try doubled.iCloudContainers.count == 256)
    }

    @Test func `a profile allows what it has, its wildcards, and less`() {
        let profile = Entitlements([
            "application-identifier": .string("TEAM.*"), "get-task-allow": .boolean(true),
            "groups": .array([.string("group.a"), .string("group.b")]), "any": .string("*"),
        ])
        let allowed = Entitlements([
            "application-identifier": .string("TEAM.com.example.Notes"), "get-task-allow": .boolean(false),
            "groups": .array([.string("group.b")]), "any": .array([.string("one"), .string("two")]),
        ])
        #expect(allowed.firstKey(notAllowedBy: profile) == nil)
        for (key, value) in [
            ("application-identifier", .string("OTHER.com.example.Notes")), ("groups", .array([.string("group.c")])),
            ("unknown", .boolean(true)), ("get-task-allow", .string("yes")),
        ] as [(String, EntitlementValue)] {
            #expect(Entitlements([key: value]).firstKey(notAllowedBy: profile) == key)
        }
        let strict = Entitlements(["get-task-allow": .boolean(false)])
        #expect(Entitlements(["get-task-allow": .boolean(true)]).firstKey(notAllowedBy: strict) == "get-task-allow")
    }

    @Test func `who may follow whom`() {
        func owner(_ key: UInt8, _ team: String?) -> AppSignature {
            AppSignature(signer: .owner(AppSignature.OfKey(key: [key], name: "signer \(key)")), team: team)
        }
        let device = AppSignature(signer: .device)
        let nobody = AppSignature(signer: .nobody)
        #expect(owner(1, "T").mayFollow(device) && nobody.mayFollow(device) && device.mayFollow(device))
        #expect(owner(2, "T").mayFollow(owner(1, "T")), "a certificate is renewed")
        #expect(!owner(1, "U").mayFollow(owner(1, "T")) && !owner(1, nil).mayFollow(owner(1, "T")))
        #expect(owner(1, nil).mayFollow(owner(1, nil)) && !owner(2, nil).mayFollow(owner(1, nil)))
        #expect(owner(1, "T").mayFollow(owner(1, nil)), "the same key, with a team now")
        #expect(!device.mayFollow(owner(1, nil)) && !nobody.mayFollow(owner(1, "T")))
        #expect(nobody.mayFollow(nobody) && !owner(1, nil).mayFollow(nobody))
    }

    @Test func `a team that nobody has signed for is only a name`() {
        let owner = AppSignature(signer: .owner(AppSignature.OfKey(key: [1], name: "signer")), team: "T")
        let (adHoc, other) = (AppSignature(signer: .nobody, team: "T"), AppSignature(signer: .nobody, team: "U"))
        #expect(!adHoc.mayFollow(owner), "an update, or an entry into a group")
        #expect(!owner.mayFollow(adHoc), "what lies with nobody's app is no team's")
        #expect(adHoc.mayFollow(adHoc) && !other.mayFollow(adHoc))
        #expect(adHoc.mayFollow(AppSignature(signer: .device)))
    }
}
