// A host on which a workload runs once, and that then loses power at every moment of it, in memory.

import Foundation
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore
@testable import DeviceLifecycle

/// A workload that was recorded, and what must hold whenever the host lost power in it.
struct SimulatedHost: Sendable {
    let name: String
    let trace: HostTrace
    /// Looks at a host that has come up again.
    /// - Returns: what is wrong.
    let check: @Sendable (_ host: Remains, _ passed: Int) throws -> [String]

    /// A directory as the host has it after its loss of power.
    struct Remains {
        let path: String

        /// Opens the device, and has all of it checked.
        /// - Returns: nil where there is none.
        func boot(_ name: String = "device") throws -> (device: BootedDevice, check: DeviceCheck)? {
            guard try HostPath.status("\(path)/\(name)", following: false, orNil: ()) != nil else { return nil }
            let device = try BootedDevice.boot(at: "\(path)/\(name)", report: { _ in })
            return (device, try device.check())
        }
    }

    private static let bootIdentifier = try! HostBoot.identifier()

    /// Lays a state out and looks at it.
    static func with<Result>(_ tree: HostTree, _ body: (Remains) throws -> Result) throws -> Result {
        let name = FileName("appcontainer-host-\(UUID().uuidString)")!
        let path = "\(HostTree.place)/\(name.text)"
        // Also of directories that deny their own user.
        defer { _ = try? Descriptor.open(path: HostTree.place, flags: O_RDONLY | O_DIRECTORY).removeTree(name) }
        try tree.write(to: path, bootIdentifier: bootIdentifier)
        return try body(Remains(path: path))
    }

    private func problems(of state: CrashStates.State) throws -> [String] {
        try SimulatedHost.with(state.tree) { remains in
            do {
                return try check(remains, state.passed)
            } catch {
                return ["\(error)"]
            }
        }
    }

    /// Requires that the recorded calls give the files that the real host has: no change escapes the record.
    func requireComplete(_ path: String) throws {
        let found = trace.after.differences(from: try HostTree.read(path).0)
        try #require(found == [], "\(name)")
    }

    /// The first state in which something is wrong.
    func firstFlaw(leavingOut site: SyncSite? = nil, most: Int) throws -> String? {
        var flaw: String?
        var states = CrashStates(trace, leavingOut: site, most: most)
        try states.visitAll { state in
            let found = try problems(of: state)
            if let first = found.first { flaw = "\(name), \(state.description): \(first)" }
            return found.isEmpty
        }
        return flaw
    }

    /// Every place that synchronized in the workload.
    var sites: Set<SyncSite> {
        Set(
            trace.events.compactMap { event in
                if case .synchronize(_, _, let site) = event { site } else { nil }
            })
    }
}

extension HostPath {
    fileprivate static func status(_ path: String, following: Bool, orNil: Void) throws -> FileStatus? {
        do throws(SystemError) {
            return try status(path, following: following)
        } catch {
            guard error == .noEntry else { throw error }
            return nil
        }
    }
}
