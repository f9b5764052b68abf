// An input as a sequence of choices, for targets that need a structure rather than bytes.

/// Takes values off an input; zeros after its end.
struct Choices {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number below a bound.
    mutating func number(below bound: Int) -> Int { Int(byte()) % bound }

    mutating func integer() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// Some bytes of the input, at most as many as remain.
    mutating func bytes(atMost limit: Int) -> [UInt8] {
        let count = min(number(below: limit + 1), rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
