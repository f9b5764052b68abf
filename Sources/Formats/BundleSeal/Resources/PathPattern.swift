// The regular expressions of resource rules: POSIX extended regular expressions, as codesign gives to regcomp(3).

/// A compiled expression, which matches the bytes of paths.
///
/// The rules of a bundle are untrusted, and with some of them regcomp(3) or regexec(3) of the C library take unbounded
/// memory. Here an expression compiles to a nondeterministic automaton of about as many states as it has bytes, and
/// matching simulates all states at once, in time of at most states times bytes of the path.
struct PathPattern: Sendable {
    /// An instruction of the automaton. Steps are relative to the state.
    enum State: Sendable {
        /// Takes one byte of the set and goes on to the next state.
        case byte(ByteSet)
        /// Goes on at both of two states.
        case either(Int, Int)
        case jump(Int)
        /// `^` and `$`.
        case start, end
    }

    /// The limit of an expression in bytes.
    static let longest = 512

    private let states: [State]

    /// Compiles an expression.
    /// - Returns: nil for an invalid expression, and for constructs that implementations read differently: repetition
    ///   counts, back references, collating elements.
    init?(_ pattern: String) {
        let bytes = Array(pattern.utf8)
        guard bytes.count <= PathPattern.longest else { return nil }
        var parser = PathPatternParser(bytes)
        guard let states = parser.parse() else { return nil }
        self.states = states
    }

    func matches(_ path: String) -> Bool { matches(Array(path.utf8)) }

    /// Whether the expression matches a part of the path, or the part that its anchors ask for.
    func matches(_ path: [UInt8]) -> Bool {
        var simulation = Simulation(states, isAnchored: isAnchored)
        for position in 0...path.count {
            // A match may begin anywhere.
            guard !simulation.enter(0, isStart: position == 0, isEnd: position == path.count) else { return true }
            guard position < path.count else { return false }
            guard let isMatch = simulation.take(path[position], isEnd: position + 1 == path.count) else { return false }
            if isMatch { return true }
        }
        return false
    }

    /// Whether every match begins at the path's start.
    private var isAnchored: Bool {
        if case .start? = states.first { return true }
        return false
    }

    /// The set of states that the bytes so far lead to. The successor of the last state is the match.
    private struct Simulation {
        private let states: [State]
        private let isAnchored: Bool
        /// The `byte` states of the set.
        private var current: [Int] = []
        private var next: [Int] = []
        private var pending: [Int] = []
        /// By state, the value of `count` at its last visit, so that each state is visited once for each byte.
        private var seen: [Int]
        /// Bytes taken.
        private var count = 0

        init(_ states: [State], isAnchored: Bool) {
            self.states = states
            self.isAnchored = isAnchored
            seen = [Int](repeating: -1, count: states.count)
        }

        /// Adds a state, and all states that it reaches without taking a byte.
        /// - Returns: whether one of them is the match.
        mutating func enter(_ state: Int, isStart: Bool, isEnd: Bool) -> Bool {
            pending.append(state)
            while let state = pending.popLast() {
                guard state < states.count else { return true }
                guard seen[state] != count else { continue }
                seen[state] = count
                switch states[state] {
                case .byte: current.append(state)
                case .either(let one, let other):
                    pending.append(state + one)
                    pending.append(state + other)
                case .jump(let step): pending.append(state + step)
                case .start: if isStart { pending.append(state + 1) }
                case .end: if isEnd { pending.append(state + 1) }
                }
            }
            return false
        }

        /// Takes one byte of the path.
        /// - Returns: whether it leads to a match; nil if no match can follow any more.
        mutating func take(_ byte: UInt8, isEnd: Bool) -> Bool? {
            if isAnchored, current.isEmpty { return nil }
            swap(&current, &next)
            current.removeAll(keepingCapacity: true)
            count += 1
            for state in next {
                guard case .byte(let set) = states[state], set.contains(byte) else { continue }
                if enter(state + 1, isStart: false, isEnd: isEnd) { return true }
            }
            return false
        }
    }
}

/// A set of bytes, as a bitmap.
struct ByteSet: Equatable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init() {}

    init(_ byte: UInt8) { insert(byte...byte) }

    static let all: ByteSet = {
        var set = ByteSet()
        set.insert(0...255)
        return set
    }()

    static func == (one: ByteSet, other: ByteSet) -> Bool { one.words == other.words }

    mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range {
            let bit: UInt64 = 1 << UInt64(byte & 63)
            switch byte >> 6 {
            case 0: words.0 |= bit
            case 1: words.1 |= bit
            case 2: words.2 |= bit
            default: words.3 |= bit
            }
        }
    }

    mutating func invert() { words = (~words.0, ~words.1, ~words.2, ~words.3) }

    func contains(_ byte: UInt8) -> Bool {
        let word =
            switch byte >> 6 {
            case 0: words.0
            case 1: words.1
            case 2: words.2
            default: words.3
            }
        return word >> UInt64(byte & 63) & 1 == 1
    }
}
