// The states in which a host that loses power may come up again.
//
// All that was synchronized is there. Of the other changes any subset may be, applied in order; one that is built on a
// change that was lost is lost with it. fsync(2) of a file makes its content, length, attributes and mode durable,
// fdatasync(2) its content and length, fsync(2) of a directory its entries: a rename or an exchange as a whole, with
// either directory, and with it the earlier names of what it moved.
// A file's fsync(2) does not make its name durable, though ext4, xfs and btrfs give that to a new file: the store does
// not rely on it.

import TestSupport

struct CrashStates {
    struct State {
        let tree: HostTree
        /// The number of moments that the workload had named.
        let passed: Int
        let description: String
    }

    private let trace: HostTrace
    private let site: SyncSite?
    private var seen: Set<[Int]> = []
    private var generator = SeededGenerator(seed: 7)
    /// The states tried for one moment.
    private let most: Int

    /// - Parameter site: the place whose synchronizations are left out.
    init(_ trace: HostTrace, leavingOut site: SyncSite? = nil, most: Int) {
        self.trace = trace
        self.site = site
        self.most = most
    }

    private struct Entry {
        let number: Int
        let change: HostChange
        var isDurable = false
        /// Whether it would be durable if no site were left out.
        var whole = false
    }

    /// Changes up to one moment.
    private struct Progress {
        /// The changes from before the first that is not durable.
        var base: HostTree
        /// All others.
        var open: [Entry] = []
        var passed = 0
        var count = 0

        mutating func synchronize(_ node: Int?, dataOnly: Bool, leftOut: Bool) {
            for index in open.indices {
                let change = open[index].change
                if dataOnly, change.isOfStatus { continue }
                if let node, !change.nodes.contains(node) { continue }
                open[index].whole = true
                if !leftOut { open[index].isDurable = true }
            }
            makeOriginsDurable(\.whole)
            makeOriginsDurable(\.isDurable)
            let settled = open.prefix { $0.isDurable }.count
            for entry in open[..<settled] { base.apply(entry.change) }
            open.removeFirst(settled)
        }

        /// No name leads to a file that is not there, or was never moved there.
        private mutating func makeOriginsDurable(_ mark: WritableKeyPath<Entry, Bool>) {
            var moved: Set<Int> = []
            for index in open.indices.reversed() {
                let named = open[index].change.named
                if open[index][keyPath: mark] {
                    moved.formUnion(named)
                } else if !moved.isDisjoint(with: named) {
                    open[index][keyPath: mark] = true
                    moved.formUnion(named)
                }
            }
        }
    }

    /// Gives states to a body, each that looks different once for the moments passed, until it returns false.
    ///
    /// The states before a change are among those after it, with the change lost. So those just before each
    /// synchronization and each named moment are all, but for the bound on their number.
    mutating func visitAll(_ body: (State) throws -> Bool) rethrows {
        var progress = Progress(base: trace.before)
        for event in trace.events {
            switch event {
            case .change(let change):
                if progress.open.count(where: { !$0.isDurable }) == CrashStates.few {
                    guard try visit(progress, body) else { return }
                }
                progress.open.append(Entry(number: progress.count, change: change))
                progress.count += 1
            case .synchronize(let node, let dataOnly, let site):
                let leftOut = site == self.site
                if !leftOut { guard try visit(progress, body) else { return } }
                progress.synchronize(node, dataOnly: dataOnly, leftOut: leftOut)
            case .mark(let number):
                guard try visit(progress, body) else { return }
                progress.passed = number
            }
        }
        _ = try visit(progress, body)
    }

    /// So many changes are lost in every combination.
    private static let few = 8

    private mutating func visit(_ progress: Progress, _ body: (State) throws -> Bool) rethrows -> Bool {
        let pending = progress.open.indices.filter { !progress.open[$0].isDurable }
        // With a site left out: those that it would have made durable. Without them nothing new can be seen.
        let missed = pending.filter { progress.open[$0].whole }
        if site != nil, missed.isEmpty { return true }
        for lost in choices(of: pending, missed) {
            var tree = progress.base
            for (index, change) in progress.open.enumerated() where !lost.contains(index) { tree.apply(change.change) }
            guard seen.insert([tree.digest, progress.passed]).inserted else { continue }
            let description =
                "after change \(progress.count), moment \(progress.passed), without "
                + lost.sorted().map { progress.open[$0] }.prefix(6).map { "\($0.number) \($0.change.summary)" }
                .joined(separator: ", ") + " (\(lost.count) of \(pending.count))"
            let state = State(tree: tree, passed: progress.passed, description: description)
            guard try body(state) else { return false }
        }
        return true
    }

    /// Sets of changes that are lost.
    private mutating func choices(of pending: [Int], _ missed: [Int]) -> [Set<Int>] {
        if pending.count <= CrashStates.few, 1 << pending.count <= most {
            return (0..<1 << pending.count).map { bits in
                Set(pending.indices.filter { bits >> $0 & 1 == 1 }.map { pending[$0] })
            }
        }
        let (all, focus) = (Set(pending), site == nil ? pending : missed)
        var choices: [Set<Int>] = [all, [], Set(focus)]
        for index in focus.prefix(site == nil ? most / 4 : .max) {
            choices += [[index], Set(focus).subtracting([index]), all.subtracting([index])]
        }
        while choices.count < most {
            // Few lost, or most of them.
            let share = Int.random(in: 1...7, using: &generator)
            choices.append(all.filter { _ in Int.random(in: 0..<8, using: &generator) < share })
        }
        return site == nil ? Array(choices.prefix(most)) : choices
    }
}

extension HostChange {
    /// The nodes to which it gives a name.
    fileprivate var named: [Int] {
        switch self {
        case .make(let node, _, _, _), .link(let node, _, _), .rename(let node, _, _, _, _, _): [node]
        case .exchange(let first, _, _, let second, _, _): [first, second]
        default: []
        }
    }

    var summary: String {
        switch self {
        case .make(let node, _, let name, _): "make \(name) #\(node)"
        case .page(let node, let index, _): "page \(index) of #\(node)"
        case .grow(let node, let length): "grow #\(node) to \(length)"
        case .cut(let node, let length): "cut #\(node) to \(length)"
        case .attribute(let node, let name, _): "attribute \(name) of #\(node)"
        case .mode(let node, _): "mode of #\(node)"
        case .link(_, _, let name): "link \(name)"
        case .remove(_, _, let name): "remove \(name)"
        case .rename(_, _, let name, _, let newName, _): "rename \(name) to \(newName)"
        case .exchange(_, _, let name, _, _, _): "exchange \(name)"
        }
    }
}
