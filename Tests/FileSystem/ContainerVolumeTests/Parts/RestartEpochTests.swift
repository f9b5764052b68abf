// Restart epochs: which files are past, and what a restart refuses meanwhile.

import SandboxModel
import Testing

@testable import ContainerVolume

@Suite("Restart epochs")
struct RestartEpochTests {
    private let epochs = RestartEpochs()

    private func node(_ kind: Node.Kind, epoch: UInt16) -> Node {
        Node(
            id: NodeID(slot: 2, epoch: epoch), generation: 1, kind: kind, inode: 5, zone: .container, parent: nil,
            name: nil)
    }

    @Test("Files of an earlier epoch are past; directories never are")
    func past() {
        #expect(!epochs.isPast(node(.file, epoch: 0)))
        epochs.advance(to: 1)
        #expect(epochs.isPast(node(.file, epoch: 0)))
        #expect(!epochs.isPast(node(.file, epoch: 1)))
        #expect(!epochs.isPast(node(.directory, epoch: 0)))
    }

    @Test("The steps of a restart, in order")
    func steps() {
        let (old, new) = (node(.file, epoch: 0).id, node(.file, epoch: 1).id)
        #expect(epochs.isCurrent(old) && !epochs.isRestarting && !epochs.isForgetting)
        epochs.beginRestart()
        #expect(epochs.isRestarting && !epochs.isCurrent(old) && !epochs.isForgetting)
        epochs.advance(to: 1)
        #expect(epochs.isForgetting && !epochs.isCurrent(new))
        epochs.admitWrites()
        #expect(!epochs.isRestarting && epochs.isCurrent(new) && !epochs.isCurrent(old) && epochs.isForgetting)
        epochs.endForgetting()
        #expect(!epochs.isForgetting)
    }

    @Test("There is no restart after the last epoch")
    func last() {
        #expect(epochs.canAdvance)
        epochs.advance(to: .max - 1)
        #expect(epochs.canAdvance)
        epochs.advance(to: .max)
        #expect(!epochs.canAdvance)
    }
}
