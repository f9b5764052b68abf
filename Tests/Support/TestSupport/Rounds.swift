// How often tests repeat what chance decides: less often in a plain run than in a full one.

import Foundation

/// The number of repetitions: `plain`, or `full` in a full run (`scripts/test --full`).
///
/// Each repetition is another seed, archive or depth of one kind; a plain run leaves out none of the kinds.
public func rounds(_ plain: Int, full: Int) -> Int {
    ProcessInfo.processInfo.environment["APPCONTAINER_FULL_TESTS"] == "1" ? full : plain
}
