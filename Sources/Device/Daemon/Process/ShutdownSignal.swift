// The signal that ends a device's process: from a client, a Unix signal, the owner, or the removal of the device.

import BackingStore
import Dispatch
import Glibc
import Platform
import SandboxModel

/// Waits for the first request to end the process; later ones have no effect. Any thread may make one.
final class ShutdownSignal: Sendable {
    /// Keeps requests that come before ``reason()`` is called.
    private let reasons: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (reasons, continuation) = AsyncStream.makeStream()
    }

    /// - Parameter reason: for the log.
    func request(_ reason: String) {
        continuation.yield(reason)
    }

    /// Waits for the first request.
    func reason() async -> String {
        for await reason in reasons { return reason }
        return "nothing is left to do"
    }

    /// Requests the end when the device is removed, as with `rm -r`.
    func watchRemoval(of device: String) throws(SystemError) {
        try RemovalWatch(of: DeviceDirectory.Name.record, in: device).whenRemoved { [self] in
            request("its device was removed")
        }
    }

    /// Takes SIGTERM, SIGINT and SIGHUP as requests for a clean shutdown.
    func watchSignals() {
        for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // Named here too because a source lives as long as something holds it.
                _ = source
                request(name)
            }
            source.resume()
        }
    }

    /// Requests the end at the end of standard input, which the owner holds for as long as it wants the device.
    func watchOwner() throws(SystemError) {
        try HostThread(name: "owner") { [self] in
            Terminal.waitForEndOfInput()
            request("its owner has let go of it")
        }.detach()
    }
}
