// The capabilities of a volume.

import CSIProtocol
import GRPCCore

extension [Csi_V1_VolumeCapability] {
    /// A volume is a mounted directory of one node.
    /// - Throws: `INVALID_ARGUMENT` for what no volume can do.
    func requirePossible() throws(RPCError) {
        guard !isEmpty else { throw .missing("volume_capabilities") }
        for capability in self { try capability.requirePossible() }
    }
}

extension Csi_V1_VolumeCapability {
    /// The reason why no volume can do this; nil where each can.
    var flaw: String? {
        guard case .mount(let mount) = accessType else {
            return "a volume is a directory, and cannot be used as a block device"
        }
        guard mount.fsType.isEmpty || mount.fsType == "fuse.appcontainer" else {
            return "a volume has no filesystem of the type \(mount.fsType)"
        }
        guard mount.mountFlags.isEmpty else {
            return "a volume has no mount options; its parameters say what it is"
        }
        switch accessMode.mode {
        case .singleNodeWriter, .singleNodeReaderOnly, .singleNodeSingleWriter, .singleNodeMultiWriter: return nil
        default: return "a volume is on one node, and cannot be used from several"
        }
    }

    func requirePossible() throws(RPCError) {
        if let flaw { throw RPCError(code: .invalidArgument, message: flaw) }
    }
}
