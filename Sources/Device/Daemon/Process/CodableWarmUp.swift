// Codes each type of a device's first requests once, before anybody waits for it.

import AppContainer

/// The first use of a Codable type is slow: the runtime looks up its conformances. For an order and the requests that
/// follow it, that is a good part of the time until the device is mounted. A process that waits for its order has the
/// time.
enum CodableWarmUp {
    static func run() {
        let device = DeviceOrder(device: "/")
        _ = try? ControlJSON.object(DeviceOrder.self, from: ControlJSON.line(device), called: "", of: "")
        _ = ControlJSON.line(StartReport(pid: 0, socket: "/"))
        _ = try? ControlJSON.request(UnlockRequest.self, from: ControlJSON.line(UnlockRequest(passcode: "")))
        _ = try? ControlJSON.request(MountRequest.self, from: ControlJSON.line(MountRequest(app: "")))
        _ = ControlJSON.line(Done())
    }
}
