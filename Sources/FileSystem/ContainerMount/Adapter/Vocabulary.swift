// The bridge's words and the volume's, each in the other's.

import ContainerVolume
import FuseBridge
import Glibc
import Platform
import SandboxModel

/// For how many seconds the kernel may answer by itself. Long, because the driver is the only one that writes to its
/// backing directory, and says so when something changes otherwise than through the mount.
enum Trust {
    static let name = 3600.0
    static let attributes = 3600.0
    static let absence = 3600.0
}

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
            nameTimeout: entry.keepsName ? Trust.name : 0,
            attributeTimeout: entry.keepsAttributes ? Trust.attributes : 0)
    }
}

extension Caller {
    init(_ caller: RequestCaller) {
        self.init(user: caller.user, group: caller.group, process: caller.process)
    }
}

extension Descriptor.RenameMode {
    init(_ mode: RenameRequest) {
        self =
            switch mode {
            case .replacing: .replacing
            case .keeping: .keeping
            case .exchanging: .exchanging
            }
    }
}

extension AttributeChange {
    init(_ request: AttributeRequest) {
        self.init()
        mode = request.mode
        owner = request.owner
        group = request.group
        size = request.size
        accessTime = request.accessTime.map(Time.init)
        modificationTime = request.modificationTime.map(Time.init)
    }
}

extension AttributeChange.Time {
    fileprivate init(_ time: AttributeRequest.Time) {
        self =
            switch time {
            case .now: .now
            case .at(let time): .at(time)
            }
    }
}

extension Reply where Self: ~Copyable {
    /// The kernel lets names through that no host filesystem holds: those that are too long. `.` and `..` never come.
    consuming func failName(_ name: [UInt8]) {
        fail(name.count > FileName.maximumLength ? ENAMETOOLONG : EINVAL)
    }
}
