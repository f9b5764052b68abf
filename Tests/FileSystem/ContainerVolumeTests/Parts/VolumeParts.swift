// The parts of a volume over one home, without the volume: for tests of one part.

import BackingStore
import Foundation
import Platform
import SandboxModel

@testable import ContainerVolume

struct VolumeParts {
    let home: TestHome
    let table: NodeTable
    let places: NodePlaces
    let names = ReadWriteLock()
    let kernel = KernelCacheReference()
    let openFiles: OpenFileTable

    init(user: uid_t = geteuid()) throws {
        home = try TestHome()
        let inode = try home.data.descriptor.status().inode
        let root = Node(id: .root, generation: 0, kind: .home, inode: inode, zone: .home, parent: nil, name: nil)
        let shown = home.home
        root.withRare { $0.anchor = shown.data }
        root.scope?.ownHome = shown
        table = NodeTable(root: root)
        places = NodePlaces(table: table, credentials: DaemonCredentials(user: user))
        openFiles = OpenFileTable(places: places, context: home.context, kernel: kernel)
    }

    /// Makes the node of a path in the data container known, with the nodes above it.
    func node(_ path: String) throws -> Node {
        var node = table.root
        for part in path.split(separator: "/") {
            let name = FileName(String(part))!
            let status = try places.directory(node).descriptor.status(of: name)
            node = table.lookUp(
                FoundEntry(
                    inode: status.inode, kind: status.kind == .directory ? .directory : .file,
                    zone: node.zone(of: name),
                    parent: node, name: name))
        }
        return node
    }

    /// A file with content, and its node.
    func file(_ path: String, _ text: String = "text") throws -> Node {
        try home.store(text, at: path)
        return try node(path)
    }
}
