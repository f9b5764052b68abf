// The group and iCloud containers that several homes show: the kernel is to cache nothing of them that another home can
// change.

import Platform
import SandboxModel
import Synchronization

/// Containers that one home showed alone until now, so that the kernel relies on what it knows of them.
public struct NewlyShared: Sendable {
    /// The home that showed the container alone, and the inode of the container's own directory.
    var containers: [(app: ContainerIdentifier, inode: UInt64)] = []

    public var isEmpty: Bool { containers.isEmpty }
}

/// The homes of a device, by the containers that they show.
///
/// Lock rule: its lock is a leaf, held for a look-up or a change of the dictionary. A volume of one home shares nothing
/// and takes no lock.
final class SharedContainers: Sendable {
    /// Whether the volume shows several homes.
    private let isDevice: Bool
    private let views = Mutex(ContainerViews())
    private let shared = Atomic<Bool>(false)

    init(isDevice: Bool) {
        self.isDevice = isDevice
    }

    /// Whether several homes have shown a container, or may have. While false, no call looks for other views.
    var mayExist: Bool { shared.load(ordering: .acquiring) }

    /// Counts a home among those that show its containers, before it shows them.
    /// - Returns: the containers that the kernel must forget before a call can come in through this home.
    func add(_ home: Home) -> NewlyShared {
        var newly = NewlyShared()
        guard isDevice, !home.showsOnlyDocuments else { return newly }
        let places = [(HomeLayout.groups, home.groups), (HomeLayout.iCloud, home.iCloud)]
        views.withLock { views in
            for (directory, containers) in places {
                for (container, anchor) in containers {
                    let place = ContainerViews.Place(directory: directory, container: container)
                    guard let alone = views.add(home.app, to: place).alone else { continue }
                    shared.store(true, ordering: .releasing)
                    // A container that cannot be examined shows its error to every home.
                    if let inode = try? anchor.descriptor.status().inode { newly.containers.append((alone, inode)) }
                }
            }
        }
        return newly
    }

    /// Records that a home is hidden, and that nobody is in it any more.
    func remove(_ app: ContainerIdentifier) { views.withLock { $0.remove(app) } }

    /// Records that a directory has a view apart, which makes calls look for other views from now on.
    func recordApart() { shared.store(true, ordering: .releasing) }

    /// The view of a home; nil where no other home can show a container.
    func view(of home: Home, _ place: ContainerViews.Place) -> ContainerView? {
        isDevice ? views.withLock { $0.add(home.app, to: place).view } : nil
    }

    /// The view of an extension's bundle, which the home of its app shows too; nil in the home of an app. Nobody
    /// changes it, so that the kernel may cache it.
    func bundleView(of home: Home) -> ContainerView? {
        home.isExtension
            ? view(of: home, ContainerViews.Place(directory: home.bundleName, container: home.app)) : nil
    }

    /// Whether other homes show one of this home's containers too.
    func isShared(by app: ContainerIdentifier) -> Bool { views.withLock { $0.isShared(by: app) } }
}
