// The names of a directory in their order, so many at a time.

import Glibc
import Platform
import SandboxModel

/// A name of a directory, with the kind that the host's list of entries has.
struct ListedName: Sendable {
    let name: FileName
    /// DT_DIR and its siblings.
    let type: UInt8
}

/// The first names of a directory by their bytes, gathered from names in any order. It keeps twice as many at most.
struct FirstNames {
    private let most: Int
    private var names: [ListedName] = []
    /// The last of those that count, once there are so many.
    private var last: FileName?
    /// Whether there were more.
    private(set) var isCut = false
    /// Those in memory.
    var held: Int { names.count }

    init(_ most: Int) {
        self.most = most
    }

    mutating func add(_ name: ListedName) {
        if let last, !name.name.precedes(last) {
            // An entry that is renamed meanwhile may come twice.
            if name.name != last { isCut = true }
            return
        }
        names.append(name)
        if names.count >= 2 * most { shorten() }
    }

    /// The names in their order, each once.
    mutating func sorted() -> [ListedName] {
        shorten()
        return names
    }

    private mutating func shorten() {
        names.sort { $0.name.precedes($1.name) }
        var kept: [ListedName] = []
        kept.reserveCapacity(min(most, names.count))
        for name in names where kept.last?.name != name.name {
            guard kept.count < most else {
                isCut = true
                break
            }
            kept.append(name)
        }
        names = kept
        if kept.count == most { last = kept.last?.name }
    }
}

extension FileName {
    /// Whether this name comes first in a listing.
    func precedes(_ other: FileName) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }
}

extension FileStatus {
    /// The status of an entry of which nothing is known but what the list of entries says.
    init(listedAs name: ListedName) {
        var status = stat()
        status.st_mode =
            switch Int(name.type) {
            case Int(DT_DIR): S_IFDIR
            case Int(DT_LNK): S_IFLNK
            case Int(DT_FIFO): S_IFIFO
            case Int(DT_SOCK): S_IFSOCK
            case Int(DT_BLK), Int(DT_CHR): S_IFBLK
            default: S_IFREG
            }
        self.init(status)
    }
}
