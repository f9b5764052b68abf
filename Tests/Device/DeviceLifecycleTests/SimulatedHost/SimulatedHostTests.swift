// The store on a host that loses power at every moment of a workload, and what it found missing there.

import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct SimulatedHostTests {
    private static let workloads = SimulatedHost.files + SimulatedHost.operations + SimulatedHost.chances
    private static let recorded = Mutex<[String: SimulatedHost]>([:])

    /// Each is recorded once.
    private static func workload(_ name: String) throws -> SimulatedHost {
        if let known = recorded.withLock({ $0[name] }) { return known }
        let made = try workloads.first { $0.0 == name }!.1()
        recorded.withLock { $0[name] = made }
        return made
    }

    @Test(arguments: workloads.map(\.0))
    func `whatever a host loses with its power, nothing is lost that was promised`(name: String) throws {
        let host = try SimulatedHostTests.workload(name)
        #expect(try host.firstFlaw(most: rounds(16, full: 1000)) == nil)
    }

    @Test func `a synchronization that is left out is found, wherever it is in the store`() throws {
        var missed = Set<SyncSite>()
        var found = Set<SyncSite>()
        for (name, _) in SimulatedHostTests.workloads {
            let host = try SimulatedHostTests.workload(name)
            for site in host.sites.subtracting(found) {
                let flaw = try host.firstFlaw(leavingOut: site, most: 12)
                if flaw != nil { found.insert(site) } else { missed.insert(site) }
            }
        }
        #expect(missed.subtracting(found).map(\.description) == [])
    }

    @Test func `every synchronization in the sources comes in some workload`() throws {
        var seen: [String: Set<UInt>] = [:]
        for (name, _) in SimulatedHostTests.workloads {
            for call in try SimulatedHostTests.workload(name).sites.flatMap(\.calls) {
                seen[call.function, default: []].insert(call.address)
            }
        }
        let sources = try SyncSite.inSources()
        #expect(sources.count > 10)
        for (function, count) in sources {
            // Root may list every directory, and so never synchronizes the whole host instead of one.
            let unreachable = isRoot && function == "ContainerVolume.synchronizeEntries" ? 1 : 0
            #expect(seen[function, default: []].count >= count - unreachable, "\(function)")
        }
    }
}
