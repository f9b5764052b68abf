// App extensions are installed, updated and removed with their app, wholly or not at all.

import BackingStore
import BundleSeal
import CHostFaults
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceLifecycle

@Suite struct ExtensionTests {
    private let scratch = Scratch()
    private static let signer = SigningIdentity(commonName: "First")
    private static let other = SigningIdentity(commonName: "Second")
    private let notes = id("com.example.Notes")
    private let share = id("com.example.Notes.Share")

    /// The sample app with extensions, which are entitled to a group and to a class.
    private func app(_ extensions: String..., isSigned: Bool = true) throws -> String {
        let path = try scratch.makeApp("App-\(UUID().uuidString)", "rm -rf _CodeSignature")
        for name in extensions {
            try shell(
                """
                set -e; cd '\(path)'; mkdir -p PlugIns/\(name).appex; cd PlugIns/\(name).appex
                sed 's/com.example.Notes/com.example.Notes.\(name)/; s|<string>Notes</string>|<string>\(name)</string>|' \
                ../../Info.plist > Info.plist; echo 'code of \(name)' > \(name)
                """)
            if isSigned { try seal("\(path)/PlugIns/\(name).appex", entitlements) }
        }
        if isSigned { try seal(path, nil) }
        return path
    }

    private let entitlements = """
        <plist version="1.0"><dict>
        <key>com.apple.security.application-groups</key><array><string>group.shared</string></array>
        <key>com.apple.developer.default-data-protection</key><string>NSFileProtectionComplete</string>
        </dict></plist>
        """

    private func seal(_ path: String, _ entitlements: String?, by signer: SigningIdentity = signer) throws {
        let bundle = try AppDirectory(at: path, takesExtension: true)
        let sealer = BundleSealer(
            identity: signer,
            entitlements: try entitlements.map { try SealedEntitlements(propertyList: Array($0.utf8)) },
            keepsInnerEntitlements: true)
        _ = try sealer.seal(bundle.root, name: bundle.name) { _ in true }
    }

    private var staged: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(scratch.device)/Staging")) ?? ["?"]
    }

    private func names(_ device: BootedDevice) -> [String] { device.apps.map(\.identifier.text) }

    @Test func `each has a data container, a class and groups of its own`() throws {
        let device = try scratch.makeDevice()
        let installed = try device.install(app("Share", "Widget"), groups: [id("group.shared")])
        let extensions = device.registry.extensions(of: notes)
        #expect(installed.identifier == notes)
        #expect(extensions.map(\.place?.name.text) == ["Share.appex", "Widget.appex"])
        #expect(Set(extensions.map(\.bundle)) == [installed.bundle])
        #expect(Set(([installed] + extensions).map(\.data)).count == 3)
        // One container for one identifier, though all three come at once.
        #expect(Set(([installed] + extensions).map(\.groups)).count == 1)
        #expect(extensions[0].executablePath?.dropFirst().map(\.text) == ["PlugIns", "Share.appex", "Share"])
        let classes = try ([installed] + extensions).map { try device.directory.container(.data, $0.data).givenClass() }
        #expect(classes == [.standard, .complete, .complete])
    }

    /// The app with an extension, and another app, all of one group.
    private func deviceOfOneGroup() throws -> BootedDevice {
        let device = try scratch.makeDevice()
        _ = try device.install(app("Share"), groups: [id("group.shared")])
        _ = try device.install(
            scratch.makeApp("Other", identifier: "com.example.Other", "rm -rf _CodeSignature"),
            groups: [id("group.shared")])
        return device
    }

    @Test func `a list of what stays out of a backup takes one walk of each container, and no sizes`() throws {
        let device = try deviceOfOneGroup()
        let group = try device.backingPath(of: notes, .shared(id("group.shared")))
        let documents = try device.backingPath(of: notes, .data) + "/Documents"
        let library = try device.backingPath(of: share, .data) + "/Library"
        for place in [group, documents, library] {
            try shell("mkdir '\(place)/out'; setfattr -n \(BackupMark.attributeName) -v x '\(place)/out'")
        }
        let found = try device.pathsOutOfBackup().map { (app, paths) in
            "\(app.identifier) \(paths.map(\.text).filter { $0.hasSuffix("out") })"
        }
        #expect(
            found == [
                #"com.example.Notes ["Documents/out", "Groups/group.shared/out"]"#,
                #"com.example.Notes.Share ["Library/out", "Groups/group.shared/out"]"#,
                #"com.example.Other ["Groups/group.shared/out"]"#,
            ])
        #expect(try device.pathsOutOfBackup(of: share).map { $0.app.identifier } == [share])
        func opens(_ body: () throws -> Void) rethrows -> Int {
            let before = faults_opens()
            try body()
            return faults_opens() - before
        }
        func excludedOpens() throws -> Int { try opens { _ = try device.pathsOutOfBackup() } }
        func listOpens() throws -> Int { try opens { try device.listBackup(BackupOrder()) { _ in } } }
        let (excluded, listed) = (try excludedOpens(), try listOpens())
        for number in 0..<9 { try shell("mkdir '\(group)/\(number)'") }
        let more = try listOpens() - listed
        #expect(more >= 9)
        #expect(try excludedOpens() - excluded == more, "three homes show the group, and it is walked once")
        try shell("mkdir -p '\(documents)/out/a/b/c' '\(documents)/../tmp/a/b/c'")
        #expect(try excludedOpens() - excluded == more, "nothing in a directory that is left out is looked at")
        #expect(try listOpens() - listed > more, "a list with sizes does")
    }

    @Test func `an app that goes while the list is made is passed over, unless it was asked for`() throws {
        let device = try deviceOfOneGroup()
        let other = id("com.example.Other")
        let (all, one) = (try ExcludedPlaces(of: nil, on: device), try ExcludedPlaces(of: notes, on: device))
        try device.uninstall(notes)
        #expect(try all.homes().map { $0.app.identifier } == [other])
        #expect(complaint { _ = try one.homes() }?.kind == .unknownApp)
        let before = try ExcludedPlaces(of: nil, on: device)
        try device.reset(other)
        #expect(complaint { _ = try before.homes() }?.kind == .inUse)
    }

    @Test func `an extension that nobody has signed is entitled to nothing`() throws {
        let device = try scratch.makeDevice()
        let path = try app("Share", isSigned: false)
        // Nobody has checked its own claims.
        try seal("\(path)/PlugIns/Share.appex", entitlements)
        _ = try device.install(path)
        let part = try device.app(share)
        #expect(part.groups == [])
        #expect(part.signature == AppSignature(signer: .device))
    }

    @Test func `an app has at most so many extensions`() throws {
        let device = try scratch.makeDevice()
        func app(_ count: Int) throws -> String {
            try scratch.makeApp(
                "App-\(count)",
                """
                rm -rf _CodeSignature; for number in $(seq \(count)); do
                mkdir -p PlugIns/E$number.appex
                sed "s/com.example.Notes/com.example.Notes.E$number/; s|<string>Notes</string>|<string>E</string>|" \
                Info.plist > PlugIns/E$number.appex/Info.plist; echo code > PlugIns/E$number.appex/E; done
                """)
        }
        let refusal = complaint { _ = try device.install(app(65)) }
        #expect(refusal?.kind == .invalidApp && refusal?.message.contains("64") == true)
        #expect(refusal?.message.contains("\n") == false)
        #expect(scratch.containers == emptyDevice)
        _ = try device.install(app(64))
        #expect(device.registry.extensions(of: notes).count == 64)
    }

    @Test func `updates bring an extension no more groups than it may have`() throws {
        let device = try scratch.makeDevice()
        func next(_ numbers: Range<Int>) throws -> String {
            let path = try app("Share", isSigned: false)
            let groups = numbers.map { "<string>group.n\($0)</string>" }.joined()
            let key = "com.apple.security.application-groups"
            try seal(
                "\(path)/PlugIns/Share.appex",
                "<plist version=\"1.0\"><dict><key>\(key)</key><array>\(groups)</array></dict></plist>")
            try seal(path, nil)
            return path
        }
        _ = try device.install(next(0..<200))
        let before = (device.apps, scratch.containers)
        let refusal = complaint { _ = try device.install(next(100..<300)) }
        #expect(refusal?.kind == .badRequest && refusal?.message.contains(share.text) == true)
        #expect(device.apps == before.0 && scratch.containers == before.1)
        _ = try device.install(next(100..<256))
        #expect(try device.app(share).groups.count == 256)
    }

    @Test func `an extension keeps no group of its former team's when its signer changes`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(app("Share"))
        let other = try scratch.makeApp("Other", identifier: "com.example.Other", "rm -rf _CodeSignature")
        try seal(other, entitlements)
        _ = try device.install(other)
        let before = (device.apps, scratch.containers)
        let next = try scratch.makeApp("Next", "rm -rf _CodeSignature")
        try shell("cp -r '\(app("Share", isSigned: false))/PlugIns' '\(next)'")
        try seal("\(next)/PlugIns/Share.appex", nil, by: Self.other)
        try seal(next, nil, by: Self.other)
        let demands = SealDemands(replacesSigner: true)
        let refusal = complaint { _ = try device.install(next, demands: demands) }
        #expect(refusal?.kind == .anotherSigner)
        #expect(refusal?.message.contains("group.shared") == true && refusal?.message.contains("uninstall") == true)
        #expect(device.apps == before.0 && scratch.containers == before.1)
        try device.uninstall(id("com.example.Other"))
        _ = try device.install(next, demands: demands)
        #expect(try device.app(share).groups.map(\.identifier.text) == ["group.shared"])
    }

    @Test func `the record of an extension needs its app`() throws {
        do {
            let device = try scratch.makeDevice()
            _ = try device.install(app("Share"))
            try device.shutDown()
        }
        let known = try DeviceDirectory.open(at: scratch.device).registry()
        #expect(known.extensions(of: notes).map(\.identifier) == [share])
        var alone = known
        alone.apps.removeAll { $0.identifier == notes }
        let directory = try DeviceDirectory.open(at: scratch.device)
        let lock = try directory.lock()
        #expect(complaint { try directory.replaceRegistry(alone, holding: lock) }?.kind == .unexpected)
        #expect(try directory.registry() == known)
    }

    @Test func `an update keeps, makes and removes extensions, at whatever step the host goes down`() throws {
        let (path, copies) = (scratch.device, scratch["copies"])
        try shell("mkdir '\(copies)'")
        let later = try app("Share", "Clock")
        do {
            let device = try scratch.makeDevice()
            _ = try device.install(app("Share", "Widget"))
            try shell("echo kept > '\(device.backingPath(of: share, .data))/Documents/kept'")
            try device.shutDown()
        }
        let number = Mutex(0)
        do {
            let device = try scratch.boot { _ in
                let number = number.withLock { number in
                    defer { number += 1 }
                    return number
                }
                _ = try? shell("cp -a '\(path)' '\(copies)/\(number)'")
            }
            _ = try device.install(later)
            #expect(names(device) == ["com.example.Notes", "com.example.Notes.Clock", "com.example.Notes.Share"])
            #expect(staged == [])
        }
        var outcomes: Set<[String]> = []
        for step in 0..<number.withLock({ $0 }) {
            try shell("rm -rf '\(path)' && mv '\(copies)/\(step)' '\(path)'")
            let device = try scratch.boot()
            outcomes.insert(names(device))
            let kept = try device.backingPath(of: share, .data) + "/Documents/kept"
            #expect(FileManager.default.fileExists(atPath: kept), "step \(step)")
            #expect(staged == [])
            let containers = try device.directory.containers(.data).names { _ in true }
            #expect(Set(containers.map(\.text)) == Set(device.apps.map(\.data.text)), "step \(step)")
            try device.shutDown()
        }
        #expect(
            outcomes == [
                ["com.example.Notes", "com.example.Notes.Share", "com.example.Notes.Widget"],
                ["com.example.Notes", "com.example.Notes.Clock", "com.example.Notes.Share"],
            ])
    }

    @Test func `they go with their app, and not alone`() throws {
        let device = try scratch.makeDevice()
        _ = try device.install(app("Share"))
        #expect(complaint { try device.uninstall(share) }?.kind == .notAllowed)
        try device.uninstall(notes)
        #expect(device.apps == [])
        #expect(try device.directory.containers(.data).names { _ in true } == [])
    }
}
