// Containers that wait for their app in the registry, and their removal.

import SandboxModel
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
}
