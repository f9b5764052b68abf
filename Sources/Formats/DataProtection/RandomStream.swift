// The source of a keybag's random bytes: the kernel, or fixed bytes in tests.

import Platform

/// Random bytes, taken in order.
struct RandomStream {
    private var fixed: ArraySlice<UInt8>?

    /// The kernel's generator.
    init() {}

    /// The given bytes, for known answers.
    init(fixed bytes: [UInt8]) {
        fixed = bytes[...]
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        guard let rest = fixed else { return Entropy.bytes(count) }
        precondition(rest.count >= count, "not enough fixed bytes")
        fixed = rest.dropFirst(count)
        return Array(rest.prefix(count))
    }

    mutating func secret() -> SecretCell {
        fixed == nil ? SecretCell.random() : SecretCell(copying: bytes(SecretCell.count))
    }
}
