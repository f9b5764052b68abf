// A device in a test's directory, and the listing by which its copy is compared.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

extension Scratch {
    func makeDevice(_ name: String = "device") throws -> DeviceDirectory {
        try DeviceDirectory.create(at: self[name]) { (_) throws(Complaint) in [1, 2, 3] }
        return try DeviceDirectory.open(at: self[name])
    }
}

/// Every name below a directory with the attributes that a copy keeps: type, mode, owner, size, modification time to
/// the nanosecond, link count, link target.
func listing(_ path: String) throws -> String {
    // Not a directory's link count and size, which are up to the host.
    let format = "-printf '%P %y %m %U %G %T@ %l' \\( -type f -printf ' %n %s' -o -true \\) -printf '\\n'"
    return try shell("cd '\(path)' && find . \(format) | LC_ALL=C sort")
}

let isRoot = geteuid() == 0
