// The choice of caches that go when space is needed. A pure function: no I/O, no clock, no state.

import BackingStore
public import SandboxModel

/// An entry of an app's `Library/Caches` or `tmp`, or of a group's `Library/Caches`. It is purged whole, with all that
/// lies in it.
public struct PurgeUnit: Hashable, Sendable {
    /// A container that several apps share.
    public struct Group: Hashable, Sendable {
        public let identifier: ContainerIdentifier
        /// The apps that are entitled to it.
        public let apps: Set<ContainerIdentifier>

        public init(_ identifier: ContainerIdentifier, of apps: Set<ContainerIdentifier>) {
            self.identifier = identifier
            self.apps = apps
        }
    }

    /// The app that reports name: of a group the first of its apps.
    public let app: ContainerIdentifier
    /// nil for an entry of the app's own data container.
    public let group: Group?
    public let directory: PurgeableDirectory
    public let name: FileName
    /// Bytes of the host that come free when it goes.
    public let bytes: Int64
    /// When a file in it was last opened, created or closed, in nanoseconds since 1970.
    public let lastUse: Int64
    /// Whether a file in it is open.
    public let isOpen: Bool

    public init(
        app: ContainerIdentifier, group: Group? = nil, directory: PurgeableDirectory, name: FileName, bytes: Int64,
        lastUse: Int64, isOpen: Bool
    ) {
        self.app = app
        self.group = group
        self.directory = directory
        self.name = name
        self.bytes = bytes
        self.lastUse = lastUse
        self.isOpen = isOpen
    }

    /// Whether it is the app's, or that of a group of the app.
    func belongs(to app: ContainerIdentifier) -> Bool { group?.apps.contains(app) ?? (self.app == app) }

    /// Whether an app that it belongs to is among these.
    func belongs(toOneOf apps: Set<ContainerIdentifier>) -> Bool {
        guard let group else { return apps.contains(app) }
        return !group.apps.isDisjoint(with: apps)
    }
}

/// How much is to go, and of which app.
struct PurgeDemand: Hashable, Sendable {
    enum Extent: Hashable, Sendable {
        /// As little as gives back so many bytes; nothing when that is not more than 0.
        case bytes(Int64)
        /// All that may go.
        case everything
        /// All that was used last before that time, in nanoseconds since 1970.
        case unused(since: Int64)
    }

    var extent: Extent
    /// The only app whose units may go; nil for every app.
    var app: ContainerIdentifier?
    /// Whether it is the daily work on `tmp`.
    var isCleaning: Bool

    init(_ extent: Extent, of app: ContainerIdentifier? = nil, isCleaning: Bool = false) {
        self.extent = extent
        self.app = app
        self.isCleaning = isCleaning
    }

    fileprivate var reason: PurgeReason { isCleaning ? .old : extent.reason }
}

/// The reason why a unit goes. Events and reports of the control API have the raw values.
public enum PurgeReason: String, Sendable {
    /// Space is needed, and of what was still there it had been unused for the longest time.
    case leastRecentlyUsed
    /// All that is purgeable goes.
    case purgeable
    /// It was not used for as long as was asked for.
    case unused
    /// It lies in `tmp`, and was not used for days.
    case old
    /// By the caprice of a device that disobeys.
    case disobeyed
}

/// The reason why a unit stays. Reports of the control API have the raw values.
public enum PurgeRefusal: String, Error {
    /// Its app is running, or one of its group.
    case appRunning
    /// A file in it is open.
    case fileOpen
    /// Enough goes without it, or was available before.
    case targetReached
    /// It was used more recently than was asked for.
    case usedRecently
    /// It takes no space.
    case empty
    /// It is another app's than the one that was named.
    case otherApp
    /// Its app is being installed, mounted, removed or the like at this moment.
    case appBusy
    /// It was removed, moved or replaced while the purge was under way.
    case changed
    /// The purge was ended before its turn came.
    case cancelled
    /// It was its turn, but the device disobeys.
    case spared
    /// The host did not let it go.
    case failed
}

/// The units that go, in the order in which they go, and those that stay.
struct PurgePlan: Sendable {
    struct Choice: Hashable, Sendable {
        /// Index of the unit among those that were given.
        let unit: Int
        let reason: PurgeReason
    }

    struct Skip: Hashable, Sendable {
        let unit: Int
        let reason: PurgeRefusal
    }

    /// The least recently used first.
    private(set) var chosen: [Choice] = []
    /// In the same order.
    private(set) var skipped: [Skip] = []
    /// Bytes that come free.
    private(set) var bytes: Int64 = 0
    /// Whether that is as much as the demand asked for; always so for a demand without a number of bytes.
    private(set) var isEnough = true

    /// Plans a purge.
    ///
    /// Units of one age go in the order of their app, their directory and their name: the same units give the same
    /// plan, in whatever order they are given.
    ///
    /// - Parameters:
    ///   - running: the apps that are running; nothing of theirs goes, so that the other apps make space for them.
    ///   - whim: whether a unit stays whose turn it is (`spared`), or goes before its turn (`purgedEarly`).
    init(
        _ units: [PurgeUnit], running: Set<ContainerIdentifier>, demand: PurgeDemand,
        whim: (Caprice.Deed, PurgeUnit) -> Bool = { _, _ in false }
    ) {
        chosen.reserveCapacity(units.count)
        skipped.reserveCapacity(units.count)
        for index in PurgePlan.order(of: units) {
            let unit = units[index]
            let refusal = refusal(of: unit, running: running, demand: demand)
            if let refusal {
                let mayGoEarly = refusal == .targetReached || refusal == .usedRecently
                if mayGoEarly, whim(.purgedEarly, unit) {
                    choose(index, unit, .disobeyed)
                } else {
                    skipped.append(Skip(unit: index, reason: refusal))
                }
            } else if whim(.spared, unit) {
                skipped.append(Skip(unit: index, reason: .spared))
            } else {
                choose(index, unit, demand.reason)
            }
        }
        guard case .bytes(let wanted) = demand.extent else { return }
        if bytes < wanted { takeSpared(units, until: wanted, demand.reason) }
        isEnough = bytes >= wanted
    }

    private mutating func choose(_ index: Int, _ unit: PurgeUnit, _ reason: PurgeReason) {
        bytes += unit.bytes
        chosen.append(Choice(unit: index, reason: reason))
    }

    /// Takes units that were spared after all: nobody is refused space that is there.
    private mutating func takeSpared(_ units: [PurgeUnit], until wanted: Int64, _ reason: PurgeReason) {
        skipped = skipped.filter { skip in
            guard skip.reason == .spared, bytes < wanted else { return true }
            choose(skip.unit, units[skip.unit], reason)
            return false
        }
    }

    private func refusal(
        of unit: PurgeUnit, running: Set<ContainerIdentifier>, demand: PurgeDemand
    ) -> PurgeRefusal? {
        if let app = demand.app, !unit.belongs(to: app) { return .otherApp }
        if !running.isEmpty, unit.belongs(toOneOf: running) { return .appRunning }
        if unit.isOpen { return .fileOpen }
        switch demand.extent {
        case .bytes(let wanted):
            if bytes >= wanted { return .targetReached }
            return unit.bytes > 0 ? nil : .empty
        case .everything: return nil
        case .unused(let since): return unit.lastUse < since ? nil : .usedRecently
        }
    }

    /// Indices of the units, the least recently used one first.
    private static func order(of units: [PurgeUnit]) -> [Int] {
        let names = NameOrder(units)
        // Keys apart from the units: the elements that are sorted stay small, and no references are counted.
        var keys = units.indices.map { Key(lastUse: units[$0].lastUse, place: names.places[$0], index: $0) }
        keys.sort { one, other in
            if one.lastUse != other.lastUse { return one.lastUse < other.lastUse }
            if one.place != other.place { return one.place < other.place }
            return names.isBefore(one.index, other.index)
        }
        return keys.map(\.index)
    }

    private struct Key {
        let lastUse: Int64
        let place: Int
        let index: Int
    }
}

/// The order of units of one age.
private struct NameOrder {
    /// A container: an app's own, or a group's behind it.
    private struct Owner: Hashable, Comparable {
        let app: ContainerIdentifier
        let group: ContainerIdentifier?

        init(_ unit: PurgeUnit) {
            app = unit.app
            group = unit.group?.identifier
        }

        static func < (one: Owner, other: Owner) -> Bool {
            if one.app != other.app { return one.app < other.app }
            guard let group = other.group else { return false }
            return one.group.map { $0 < group } ?? true
        }
    }

    /// Of each unit: a number that is less where its container, then its directory, comes first.
    let places: [Int]
    /// The names, eight bytes in a number, the first byte the most significant. Each ends with a NUL that its bytes
    /// lack, so that no name begins like a whole other one.
    private var words: [UInt64] = []
    /// Of each unit: where its name begins in `words`.
    private var starts: [Int] = []

    init(_ units: [PurgeUnit]) {
        // Units come container by container: each run of one container's is looked up once.
        let runs = units.indices.filter { index in
            index == 0 || units[index].app != units[index - 1].app || units[index].group != units[index - 1].group
        }
        let owners = Set(runs.map { Owner(units[$0]) }).sorted()
        let ranks = Dictionary(uniqueKeysWithValues: zip(owners, owners.indices))
        var places: [Int] = []
        places.reserveCapacity(units.count)
        for (start, end) in zip(runs, runs.dropFirst() + [units.count]) {
            let rank = ranks[Owner(units[start]), default: 0]
            for unit in units[start..<end] { places.append(rank * 2 + (unit.directory == .caches ? 0 : 1)) }
        }
        self.places = places
        starts.reserveCapacity(units.count)
        words.reserveCapacity(units.count * 4)
        for unit in units {
            starts.append(words.count)
            var word: UInt64 = 0
            for (position, byte) in unit.name.terminated.enumerated() {
                word |= UInt64(byte) << UInt64(56 - position % 8 * 8)
                if position % 8 == 7 {
                    words.append(word)
                    word = 0
                }
            }
            if unit.name.terminated.count % 8 != 0 { words.append(word) }
        }
    }

    /// For two units of one place, whose names differ.
    func isBefore(_ one: Int, _ other: Int) -> Bool {
        var (one, other) = (starts[one], starts[other])
        guard one != other else { return false }
        while words[one] == words[other] {
            one += 1
            other += 1
        }
        return words[one] < words[other]
    }
}

extension PurgeUnit {
    /// Relative to the app's home.
    public var path: String {
        let path = (directory.path + [name]).text
        return group.map { "\(HomeLayout.groups.text)/\($0.identifier)/\(path)" } ?? path
    }
}

extension PurgeDemand.Extent {
    fileprivate var reason: PurgeReason {
        switch self {
        case .bytes: .leastRecentlyUsed
        case .everything: .purgeable
        case .unused: .unused
        }
    }
}
