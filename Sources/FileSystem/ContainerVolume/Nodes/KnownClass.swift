// The protection class of a node, cached in the node.

import SandboxModel
import Synchronization

/// The protection class of a node, in one byte: read from the host when it is first needed.
///
/// Lock rule: none, the byte is an atomic. A class changes under the node's open lock.
struct KnownClass: ~Copyable {
    private let number = Atomic<UInt8>(0)

    var value: ProtectionClass? { ProtectionClass(rawValue: number.load(ordering: .acquiring)) }

    /// Called after the class was changed.
    borrowing func set(_ protection: ProtectionClass) { number.store(protection.rawValue, ordering: .releasing) }

    /// Takes a class that was read, unless the class has changed since.
    /// - Returns: the class that the node has now.
    borrowing func learn(_ protection: ProtectionClass) -> ProtectionClass {
        let (isFirst, known) = number.compareExchange(
            expected: 0, desired: protection.rawValue, ordering: .acquiringAndReleasing)
        return isFirst ? protection : ProtectionClass(rawValue: known) ?? protection
    }
}
