// The signed attribute by which a signature over one code directory names all of them (Apple's 1.2.840.113635.100.9.1).

import FoundationEssentials
import PropertyLists

/// A property list with the hashes of code directories, each cut to 20 bytes.
struct CodeDirectoryHashes {
    private let hashes: Set<[UInt8]>

    /// Bytes that are no such list name no directory.
    init(decoding bytes: [UInt8]) {
        struct List: Decodable {
            let cdhashes: [Data]
        }
        let list = try? PropertyListCoding.decode(List.self, from: bytes)
        hashes = Set(list?.cdhashes.map { Array($0) } ?? [])
    }

    func contain(_ hash: [UInt8]) -> Bool { hashes.contains(hash) }
}
