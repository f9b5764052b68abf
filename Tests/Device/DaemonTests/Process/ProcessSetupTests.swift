// The settings that a device's process takes from the environment.

import SandboxModel
import Testing

@testable import Daemon

@Suite struct ProcessSetupTests {
    @Test(arguments: [
        (nil, TransportChoice.automatic), ("", .automatic), ("auto", .automatic), ("dev-fuse", .devFuse),
        ("io-uring", .ioUring),
    ])
    func `the transport is the one that the environment names, else automatic`(
        value: String?, choice: TransportChoice
    ) throws {
        #expect(try ProcessSetup.transport(named: value) == choice)
    }

    @Test(arguments: ["pigeon", "Auto", "automatic", " auto", "dev_fuse"])
    func `a transport that there is not is named, with those that there are`(value: String) throws {
        let complaint = #expect(throws: Complaint.self) { try ProcessSetup.transport(named: value) }
        #expect(complaint?.kind == .badRequest)
        #expect(
            complaint?.message
                == "APPCONTAINER_TRANSPORT is '\(value)': set it to auto, dev-fuse or io-uring, or to nothing")
    }
}
