// A device that disobeys at times, as a phone's system may: each decision follows from a seed, and from nothing that
// differs from run to run.

import HashFunctions
public import SandboxModel

/// The seed of a device that disobeys, and how often it had the occasion.
public struct Capriciousness: Codable, Equatable, Sendable {
    /// Any text; what `create --capricious` was given.
    public let seed: String
    /// Backups, and purges that took or spared something, so far. nil for none.
    public internal(set) var backups: Int?
    public internal(set) var purges: Int?

    /// Permitted lengths of ``seed``, in bytes.
    public static let lengths = 1...100

    public init(seed: String) {
        self.seed = seed
    }

    /// Counts a backup or a purge.
    public mutating func endTurn(of deed: Caprice.Deed) {
        if deed == .backedUp {
            backups = Capriciousness.next(backups)
        } else {
            purges = Capriciousness.next(purges)
        }
    }

    private static func next(_ count: Int?) -> Int {
        let count = count ?? 0
        return count == .max ? 0 : count + 1
    }

    var isPossible: Bool {
        Capriciousness.lengths.contains(seed.utf8.count) && backups ?? 0 >= 0 && purges ?? 0 >= 0
    }
}

/// The decisions of a device that disobeys. A pure function: the same seed, the same turn and the same path give the
/// same decision, on whichever device and at whatever time.
public struct Caprice: Sendable {
    /// A way to disobey. Events have the raw values.
    public enum Deed: String, CaseIterable, Sendable {
        /// A file or directory that bears the mark of exclusion goes into a backup.
        case backedUp
        /// A purgeable entry stays, though it was its turn to go.
        case spared
        /// A purgeable entry goes, though it was not its turn.
        case purgedEarly
        /// `Library/Caches` itself goes, with all that is in it.
        case removedCaches

        /// One occasion out of so many is taken.
        fileprivate var rarity: UInt64 {
            switch self {
            case .backedUp, .spared, .purgedEarly: 4
            case .removedCaches: 8
            }
        }
    }

    private let seed: String
    private let turns: (backups: Int, purges: Int)

    public init(_ capriciousness: Capriciousness) {
        seed = capriciousness.seed
        turns = (capriciousness.backups ?? 0, capriciousness.purges ?? 0)
    }

    /// Whether the device does this now.
    /// - Parameters:
    ///   - path: from the container.
    ///   - owner: the app or group of the container.
    public func does(_ deed: Deed, to path: [FileName], of owner: ContainerIdentifier) -> Bool {
        let turn = deed == .backedUp ? turns.backups : turns.purges
        // No part contains the NUL that ends it. A path's names are parts.
        let parts = ["appcontainer caprice 1", seed, deed.rawValue, String(turn), owner.text].map {
            Array($0.utf8) + [0]
        }
        let message = parts.joined() + path.flatMap(\.terminated)
        let number = HashFunction.sha256.digest(of: Array(message)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number % deed.rarity == 0
    }
}
