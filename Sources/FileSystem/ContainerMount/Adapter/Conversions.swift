// Conversions between the types of FuseBridge and those of ContainerVolume.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

extension KernelNode {
    var id: NodeID { NodeID(rawValue: rawValue) }

    init(_ id: NodeID) {
        self.init(rawValue: id.rawValue)
    }
}

extension KernelEntry {
    init(_ entry: Entry) {
        self.init(
            node: KernelNode(entry.node), generation: entry.generation, status: entry.status,
            nameTimeout: entry.keepsName ? CacheTimeout.name : 0,
            statusTimeout: entry.mayCacheStatus ? CacheTimeout.status : 0)
    }
}

extension Caller {
    init(_ caller: RequestCaller) {
        self.init(user: caller.user, group: caller.group, thread: caller.thread)
    }
}

extension Descriptor.RenameMode {
    init(_ mode: RenameRequest.Mode) {
        self =
            switch mode {
            case .replacing: .replacing
            case .keeping: .keeping
            case .exchanging: .exchanging
            }
    }
}

extension Reply where Self: ~Copyable {
    /// Fails a request whose name is no `FileName`. The kernel passes names that are too long, but never `.` and `..`.
    consuming func failName(_ name: [UInt8]) {
        fail(name.count > FileName.maximumLength ? ENAMETOOLONG : EINVAL)
    }
}
