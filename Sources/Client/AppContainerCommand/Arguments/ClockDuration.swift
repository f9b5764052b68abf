// DURATION on the command line, for a device's clock.

import ArgumentParser

/// A duration: an age, or digits followed by w.
struct ClockDuration: ExpressibleByArgument {
    let seconds: Int64

    private static let daysOfWeek: Int64 = 7

    /// - Returns: nil for anything but digits with an optional unit, and for durations above 4,000,000,000 seconds.
    init?(argument: String) {
        guard argument.hasSuffix("w") else {
            guard let age = Age(argument: argument) else { return nil }
            seconds = age.seconds
            return
        }
        guard let days = Age(argument: argument.dropLast() + "d") else { return nil }
        seconds = days.seconds * ClockDuration.daysOfWeek
    }
}
