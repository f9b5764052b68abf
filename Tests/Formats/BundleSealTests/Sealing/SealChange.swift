// A change of a sealed app, and what a verification says of it.

import TestSupport
import Testing

@testable import BundleSeal

/// One way to change the sample, and the breaks that it makes: none where the seal stays whole.
struct SealChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let breaks: [String]
    private let make: @Sendable (SampleApp) throws -> Void

    /// - Parameter breaks: in any order.
    init(_ name: String, _ breaks: [String] = [], _ make: @escaping @Sendable (SampleApp) throws -> Void) {
        testDescription = name
        self.breaks = breaks.sorted { SealChange.path($0) + [0] + $0.utf8 < SealChange.path($1) + [0] + $1.utf8 }
        self.make = make
    }

    /// Breaks a seal and mends it.
    func check() throws {
        let app = try SampleApp.whole().seal()
        #expect(try app.breaks(trust: SampleApp.trustMine) == [])
        try make(app)
        #expect(try app.breaks() == breaks)
        #expect(try app.breaks(trust: SampleApp.trustMine) == breaks)
        // Whoever signs what is there now makes it whole.
        try app.seal()
        #expect(try app.breaks(trust: SampleApp.trustMine) == [])
    }

    private static func path(_ text: String) -> [UInt8] { Array(text.utf8.drop { $0 != UInt8(ascii: " ") }) }
}

private func < (one: [UInt8], other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }
