// Node IDs: slot and epoch.

import SandboxModel
import Testing

@Suite("Node ids")
struct NodeIDTests {
    @Test(
        "Slot and epoch come back apart",
        arguments: [(1, 0), (2, 1), (.max, 0xFFFF), (0, 7)] as [(UInt32, UInt16)])
    func parts(slot: UInt32, epoch: UInt16) {
        let node = NodeID(slot: slot, epoch: epoch, tag: 5)
        #expect(node.slot == UInt64(slot))
        #expect(node.epoch == epoch)
        #expect(NodeID(rawValue: node.rawValue) == node)
    }

    @Test("The root is FUSE's number 1, and a slot of the first epoch")
    func root() {
        #expect(NodeID.root.rawValue == 1)
        #expect(NodeID.root == NodeID(slot: 1, epoch: 0))
    }

    @Test("One slot in two epochs is two nodes")
    func epochs() {
        #expect(NodeID(slot: 9, epoch: 1) != NodeID(slot: 9, epoch: 2))
    }
}
