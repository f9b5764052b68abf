// The value of options that turn something on or off.

import ArgumentParser

/// `on` or `off`.
enum SwitchPosition: String, CaseIterable, ExpressibleByArgument {
    case on, off
}
