// Containers that wait for their app in the registry, and their removal.

import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

@Suite struct AppRegistryTests {
    private let notes = ContainerIdentifier("com.example.Notes")!
    private let photos = ContainerIdentifier("com.example.Photos")!
    private let group = ContainerIdentifier("group.com.example")!

    private func waiting(
        _ kind: ContainerKind, _ identifier: ContainerIdentifier, _ groups: [ContainerIdentifier] = []
    ) -> WaitingContainer {
        WaitingContainer(
            kind: kind, identifier: identifier, uuid: ContainerUUID(), owner: 501, ownerGroup: 501, groups: groups)
    }

    @Test func `a group that waits goes with the last app that waits for it`() {
        let first = waiting(.data, notes, [group])
        let second = waiting(.data, photos, [group])
        let shared = waiting(.group, group)
        let registry = AppRegistry(waiting: [first, second, shared])
        let one = registry.discarding(notes)
        #expect(one.waiting == [second, shared])
        #expect(one.discarding(photos).waiting == [])
    }

    @Test func `a group that waits goes by itself`() {
        let app = waiting(.data, notes, [group])
        let registry = AppRegistry(waiting: [app, waiting(.group, group)])
        #expect(registry.discarding(group).waiting == [app])
    }

    @Test func `a group of which no backup said whose it is stays`() {
        let shared = waiting(.group, group)
        #expect(AppRegistry(waiting: [waiting(.data, notes), shared]).discarding(notes).waiting == [shared])
    }

    @Test func `nothing goes under an identifier of which nothing waits`() {
        let registry = AppRegistry(waiting: [waiting(.data, notes)])
        #expect(registry.discarding(photos) == registry)
    }

    // MARK: The record

    private func app(
        _ entitlement: EntitlementValue = .integer(1), named name: String = "Notes", in place: ExtensionPlace? = nil
    ) -> InstalledApp {
        InstalledApp(
            identifier: notes, place: place, bundleName: "Notes.app", displayName: name, version: "1", build: "1",
            executable: nil, sharesDocuments: false,
            signature: AppSignature(signer: .nobody, entitlements: Entitlements(["key": entitlement])),
            bundle: ContainerUUID(), data: ContainerUUID(), groups: [], iCloud: [], owner: 0, ownerGroup: 0)
    }

    @Test func `a registry that could not be read back is not written`() throws {
        let scratch = Scratch()
        let device = try scratch.makeDevice()
        let lock = try device.lock()
        let whole = AppRegistry(apps: [app()])
        try device.replaceRegistry(whole, holding: lock)
        let deep = (0..<200).reduce(EntitlementValue.string("text")) { inner, _ in .array([inner]) }
        let alone = ExtensionPlace(app: photos, name: "Share.appex")
        for wrong in [
            app(deep), app(in: alone), app(named: String(repeating: "n", count: 65 << 20)),
        ] {
            let refusal = complaint { try device.replaceRegistry(AppRegistry(apps: [wrong]), holding: lock) }
            #expect(refusal?.kind == .unexpected && refusal?.message.contains("\n") == false)
            #expect(try device.registry() == whole)
        }
        #expect(try DeviceDirectory.open(at: device.path).registry() == whole)
    }

    @Test func `a record whose extension lacks its app is damaged`() throws {
        let scratch = Scratch()
        let device = try scratch.makeDevice()
        let alone = app(in: ExtensionPlace(app: photos, name: "Share.appex"))
        try device.replace(
            DeviceDirectory.Name.apps, sealing: try DeviceRecords.encode(AppRegistry(apps: [alone])))
        #expect(complaint { _ = try device.registry() }?.kind == .damaged)
    }
}
