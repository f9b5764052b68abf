// The way to a device that goes away, and whose place another one takes.

import AppContainer
import Synchronization
import Testing

@testable import DevicePage

@Suite("The way to a device")
struct DeviceReachTests {
    /// The search's results, one after the other; the last stays.
    private final class Places: Sendable {
        let kinds: Mutex<[DeviceError.Kind?]>

        init(_ kinds: [DeviceError.Kind?]) {
            self.kinds = Mutex(kinds)
        }

        func find() throws(DeviceError) -> DeviceClient? {
            let kind = kinds.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            if let kind { throw DeviceError(kind, "\(kind)") }
            return DeviceClient(socket: "/nowhere/socket", identifier: "one")
        }
    }

    private func kind(_ device: DeviceReach) async -> DeviceError.Kind? {
        do throws(DeviceError) {
            try await device.ask { (client) throws(DeviceError) in _ = try await client.status() }
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `a device that is off is said to be off`() async {
        let device = DeviceReach(off: "it is off") { nil }
        #expect(await kind(device) == .daemonUnreachable)
    }

    @Test func `another device in its place is never asked, and said to be another`() async {
        let places = Places([nil, .otherDevice])
        let device = DeviceReach(off: "it is off") { () throws(DeviceError) in try places.find() }
        // Its process has ended.
        #expect(await kind(device) == .daemonUnreachable)
        #expect(await kind(device) == .otherDevice)
        #expect(await kind(device) == .otherDevice)
    }
}
