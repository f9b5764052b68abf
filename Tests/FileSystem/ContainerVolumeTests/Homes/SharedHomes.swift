// Fixture: two homes of one device that share a group, and a log of the notifications to the kernel.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization

/// A device's volume with two homes.
final class SharedHomes: @unchecked Sendable {
    /// Two data containers; the group is the first one's.
    let homes: [TestHome]
    let volume: Volume
    let kernel = Told()
    let shown: [Home]

    /// - Parameter both: whether the second home is shown from the beginning.
    init(both: Bool = true) throws {
        let first = try TestHome()
        let second = try TestHome()
        homes = [first, second]
        shown = [
            first.home,
            Home(
                app: ContainerIdentifier("com.example.Other")!, bundleName: second.home.bundleName,
                bundle: second.home.bundle, data: second.home.data, groups: first.home.groups, iCloud: [:],
                owner: geteuid(), group: getegid(), isPrivate: true),
        ]
        let device = SharedDescriptor(try Descriptor.open(path: first.directory, flags: O_RDONLY | O_DIRECTORY))
        volume = Volume(view: .device, device: device, context: first.context)
        volume.kernelCache = kernel
        volume.show(shown[0])
        if both { volume.show(shown[1]) }
    }

    /// Where a home shows the group.
    func group(_ home: Int) -> String { "\(shown[home].app)/Groups/\(TestHome.group)" }
    func documents(_ home: Int) -> String { "\(shown[home].app)/Documents" }

    /// The group's directory on the host.
    var host: String { homes[0].directory + "/group" }

    func path(_ node: NodeID) -> String? { volume.path(to: node)?.map(\.text).joined(separator: "/") }

    /// The kernel, as far as a volume tells it what has changed without it.
    final class Told: KernelCache {
        struct Name: Hashable {
            let name: FileName
            let parent: NodeID
        }

        let forgotten = Mutex<Set<Name>>([])
        let expired = Mutex<Set<Name>>([])
        let followed = Mutex<Set<NodeID>>([])

        func forgets(_ name: FileName, in parent: NodeID) -> Bool {
            forgotten.withLock { $0.contains(Name(name: name, parent: parent)) }
        }

        func forgetEntry(_ name: FileName, in parent: NodeID) {
            forgotten.withLock { _ = $0.insert(Name(name: name, parent: parent)) }
        }
        func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool) {
            forgetEntry(name, in: parent)
        }
        func expireEntry(_ name: FileName, in parent: NodeID) {
            expired.withLock { _ = $0.insert(Name(name: name, parent: parent)) }
        }
        func follow(_ directory: NodeID) { followed.withLock { _ = $0.insert(directory) } }
        func forgetContent(of node: NodeID) {}
        func forgetContent(of node: NodeID, _ range: Range<Int64>) {}
        func forgetStatus(of node: NodeID) {}
        func lost(_ loss: LostRange) {}
    }
}
