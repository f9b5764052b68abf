// AGE on the command line.

import ArgumentParser

/// A duration: digits followed by s, m, h or d; without a unit, seconds.
struct Age: ExpressibleByArgument, Hashable {
    /// From 0 to 4,000,000,000, which is some 126 years.
    let seconds: Int64

    /// - Returns: nil for anything but digits with an optional unit, and for ages above 4,000,000,000 seconds.
    init?(argument: String) {
        var digits = argument[...]
        var factor: Int64 = 1
        if let unit = digits.last, let seconds = Age.units[unit] {
            digits.removeLast()
            factor = seconds
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int64(digits)
        else { return nil }
        let (seconds, isTooLarge) = number.multipliedReportingOverflow(by: factor)
        // Ages are measured in nanoseconds, in 64 bits.
        guard !isTooLarge, seconds <= 4_000_000_000 else { return nil }
        self.seconds = seconds
    }

    /// Seconds of each unit.
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
}
