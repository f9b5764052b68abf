// The signed attribute by which a signature over one code directory covers all of them (Apple's
// 1.2.840.113635.100.9.1).

import FoundationEssentials
import PropertyLists

/// The attribute's property list: hashes of code directories, each cut to 20 bytes.
struct CodeDirectoryHashes {
    private let hashes: Set<[UInt8]>

    /// Decodes the list. Malformed bytes give an empty one.
    init(decoding bytes: [UInt8]) {
        struct List: Decodable {
            let cdhashes: [Data]
        }
        let list = try? PropertyListCoding.decode(List.self, from: bytes)
        hashes = Set(list?.cdhashes.map { Array($0) } ?? [])
    }

    /// Whether the signature covers the code directory with this hash.
    func contain(_ hash: [UInt8]) -> Bool { hashes.contains(hash) }
}
