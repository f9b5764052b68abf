// The first use of a type, made before anybody waits for it.

import AppContainer

/// Once for each type the runtime looks through everything it knows of types: how it is decoded, in what it can be put.
/// For the order of a device and the requests that follow it at once that takes a good part of the time until it is
/// mounted. A process that waits for its order has that time to spare.
enum Rehearsal {
    static func run() {
        let device = DeviceOrder(device: "/")
        _ = try? ControlJSON.object(DeviceOrder.self, from: ControlJSON.line(device), called: "", of: "")
        _ = ControlJSON.line(StartReport(pid: 0, socket: "/"))
        _ = try? ControlJSON.decode(UnlockRequest.self, from: ControlJSON.line(UnlockRequest(passcode: "")))
        _ = try? ControlJSON.decode(MountRequest.self, from: ControlJSON.line(MountRequest(app: "")))
        _ = ControlJSON.line(Done())
    }
}
