// The formats that are fuzzed: one target for each format of input that somebody else may have made.

/// A format, and the code that gets it, with the conditions that hold after any input.
///
/// A target refuses an input by throwing. A broken condition, a trap or a leak ends the process: that is the finding.
public struct FuzzTarget: Sendable {
    /// The name for `scripts/fuzz`, and the directory of the corpus.
    public let name: String
    private let body: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the target once.
    public func run(_ input: [UInt8]) {
        // An error is the answer to bad input.
        try? body(input)
    }

    public static let all: [FuzzTarget] =
        propertyLists + bundles + backups + templates + devices + programs

    /// - Returns: nil if no target has the name.
    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Ends the process unless a condition holds that no input may break.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard condition else { fatalError(message()) }
}
