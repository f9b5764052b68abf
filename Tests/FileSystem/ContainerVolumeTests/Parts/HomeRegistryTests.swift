// The homes of a device, and the containers that several of them show.

import Platform
import SandboxModel
import Synchronization
import Testing

@testable import ContainerVolume

@Suite("The homes of a device")
struct HomeRegistryTests {
    private let first: Home
    private let second: Home
    private let fixtures: [TestHome]
    private let table: NodeTable
    private let kernel = KernelCacheReference()
    private let homes: HomeRegistry

    init() throws {
        let shared = try SharedHomes(both: false)
        fixtures = shared.homes
        (first, second) = (shared.shown[0], shared.shown[1])
        table = NodeTable(
            root: Node(
                id: .root, generation: 0, kind: .device, inode: SyntheticInode.device, zone: .device, parent: nil,
                name: nil))
        homes = HomeRegistry(table: table, names: ReadWriteLock(), kernel: kernel)
    }

    /// The node of a home, as a lookup makes it.
    private func lookUp(_ home: Home) throws -> Node {
        let node = table.lookUp(
            FoundEntry(
                inode: try home.data.descriptor.status().inode, kind: .home, zone: .home, parent: table.root,
                name: home.app.fileName))
        homes.set(home, of: node)
        return node
    }

    @Test("Homes are found by their names, in order, while they are shown")
    func shown() {
        #expect(homes.show(second).isEmpty)
        homes.show(first)
        #expect(homes.all.map(\.app) == [first.app, second.app].sorted() && homes.count == 2)
        #expect(homes.home(named: first.app.fileName)?.app == first.app)
        homes.hide(first.app)
        #expect(homes.home(named: first.app.fileName) == nil && homes.count == 1)
        homes.hide(first.app)
    }

    @Test("A container is newly shared once: when a second home shows it")
    func newlyShared() throws {
        #expect(homes.show(first).isEmpty)
        #expect(!homes.sharing.mayExist)
        let newly = homes.show(second)
        #expect(newly.containers.map(\.app) == [first.app])
        #expect(newly.containers.map(\.inode) == [try first.groups[TestHome.group]!.descriptor.status().inode])
        #expect(homes.sharing.mayExist)
        #expect(homes.show(second).isEmpty)
        #expect(homes.sharing.isShared(by: first.app) && homes.sharing.isShared(by: second.app))
    }

    @Test("A hidden home shares its containers as long as the kernel knows its node")
    func hidden() throws {
        homes.show(first)
        homes.show(second)
        let node = try lookUp(first)
        homes.hide(first.app)
        #expect(homes.sharing.isShared(by: second.app))
        for app in table.forget(node.id, count: 1) { homes.recordForgotten(app) }
        #expect(!homes.sharing.isShared(by: second.app))
        homes.hide(second.app)
    }

    @Test("A home that is shown anew is the one that its node stands for")
    func shownAnew() throws {
        homes.show(first)
        let node = try lookUp(first)
        var changed = first
        changed.bundleName = "Other.app"
        homes.show(changed)
        #expect(node.home?.bundleName == "Other.app")
    }
}

@Suite("The containers that several homes show")
struct SharedContainersTests {
    @Test("A volume of one home shares nothing")
    func alone() throws {
        let home = try TestHome().home
        let containers = SharedContainers(isDevice: false)
        #expect(containers.add(home).isEmpty && !containers.mayExist)
        let place = ContainerViews.Place(directory: HomeLayout.groups, container: TestHome.group)
        #expect(containers.view(of: home, place) == nil)
        containers.recordApart()
        #expect(containers.mayExist)
    }

    @Test("A view tells whether its container is shared, and is the same at every look-up")
    func views() throws {
        let shared = try SharedHomes(both: false)
        let containers = SharedContainers(isDevice: true)
        let place = ContainerViews.Place(directory: HomeLayout.groups, container: TestHome.group)
        let view = try #require(containers.view(of: shared.shown[0], place))
        #expect(!view.isShared && containers.view(of: shared.shown[0], place) === view)
        _ = containers.add(shared.shown[1])
        #expect(view.isShared)
        containers.remove(shared.shown[1].app)
        #expect(!view.isShared)
    }
}
