// The protection class of a node, cached in the node.

import SandboxModel
import Synchronization

/// The class of a node as far as it was needed: looked for on the host once, in one byte of a node.
struct KnownClass: ~Copyable {
    private let number = Atomic<UInt8>(0)

    var value: ProtectionClass? { ProtectionClass(rawValue: number.load(ordering: .acquiring)) }

    /// To be called after the class was changed.
    borrowing func set(_ protection: ProtectionClass) { number.store(protection.rawValue, ordering: .releasing) }

    /// Takes what was read, unless somebody has changed the class since.
    borrowing func learn(_ protection: ProtectionClass) -> ProtectionClass {
        let (isFirst, known) = number.compareExchange(
            expected: 0, desired: protection.rawValue, ordering: .acquiringAndReleasing)
        return isFirst ? protection : ProtectionClass(rawValue: known) ?? protection
    }
}
