// Why a device's process ends.

import Dispatch
import Glibc
import Platform
import SandboxModel

/// The reason to end, whoever gives it first.
final class Ending: Sendable {
    private let reasons: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (reasons, continuation) = AsyncStream.makeStream()
    }

    func end(_ reason: String) {
        continuation.yield(reason)
    }

    func reason() async -> String {
        for await reason in reasons { return reason }
        return "nothing is left to do"
    }

    /// A device that was removed with `rm -r` needs no daemon.
    func watchRemoval(of device: String) throws(SystemError) {
        let watch = try RemovalWatch(of: "Device.json", in: device)
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.eventDescriptor, queue: .global())
        source.setEventHandler { [self] in
            _ = source
            if watch.isRemoved() { end("its device was removed") }
        }
        source.resume()
    }

    /// The usual ways to ask a process to end; from now on each is a clean shutdown.
    func watchSignals() {
        for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // Named here too because a source lives as long as something holds it.
                _ = source
                end(name)
            }
            source.resume()
        }
    }

    /// An owner holds the process by its standard input, and lets go of that when it ends at the latest.
    func watchOwner() throws(SystemError) {
        try HostThread(name: "owner") { [self] in
            Terminal.waitForEndOfInput()
            end("its owner has let go of it")
        }.detach()
    }
}
