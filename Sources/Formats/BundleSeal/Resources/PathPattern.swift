// The regular expressions of resource rules: POSIX extended ones (regcomp(3)), as codesign compiles them.

/// A compiled expression that paths are held against, byte by byte.
///
/// The rules of a bundle are written by whoever signed it, or pretends to have: the C library's own compiler takes
/// memory without end for some of them, and its matcher for others. Here an expression has about as many states as it
/// has bytes, and matching follows all of them at once: its time is at most their product with the path's length.
struct PathPattern: Sendable {
    /// What is done at one state. Steps are relative to it.
    enum State: Sendable {
        case byte(ByteSet)
        case either(Int, Int)
        case jump(Int)
        /// `^` and `$`.
        case start, end
    }

    static let longest = 512

    private let states: [State]

    /// - Returns: nil for what is no expression, and for what only some know how to read: repetition counts, back
    ///   references, collating elements.
    init?(_ pattern: String) {
        let bytes = Array(pattern.utf8)
        guard bytes.count <= PathPattern.longest else { return nil }
        var parser = PathPatternParser(bytes)
        guard let states = parser.whole() else { return nil }
        self.states = states
    }

    func matches(_ path: String) -> Bool { matches(Array(path.utf8)) }

    func matches(_ path: [UInt8]) -> Bool {
        var walk = Walk(states, isAnchored: isAnchored)
        for position in 0...path.count {
            // A match may begin anywhere.
            guard !walk.enter(0, isStart: position == 0, isEnd: position == path.count) else { return true }
            guard position < path.count else { return false }
            guard let isMatch = walk.take(path[position], isEnd: position + 1 == path.count) else { return false }
            if isMatch { return true }
        }
        return false
    }

    private var isAnchored: Bool {
        if case .start? = states.first { return true }
        return false
    }

    /// The states that the bytes so far lead to. The last state's successor is the match.
    private struct Walk {
        private let states: [State]
        private let isAnchored: Bool
        private var current: [Int] = []
        private var next: [Int] = []
        private var pending: [Int] = []
        /// By state, the number of bytes after which it was last looked at.
        private var seen: [Int]
        private var count = 0

        init(_ states: [State], isAnchored: Bool) {
            self.states = states
            self.isAnchored = isAnchored
            seen = [Int](repeating: -1, count: states.count)
        }

        /// Goes to a state and to all that can be reached from it without a byte.
        /// - Returns: whether that is a match.
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

        /// - Returns: whether the byte leads to a match; nil when none can follow.
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

/// A set of bytes.
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
