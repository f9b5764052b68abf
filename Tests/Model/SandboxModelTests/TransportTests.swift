// Transports: the words of the command, and what satisfies a choice.

import SandboxModel
import Testing

@Suite struct TransportTests {
    @Test func `a choice admits the transport that it names, and automatic admits any`() {
        for transport in Transport.allCases {
            #expect(TransportChoice.automatic.admits(transport))
            #expect(TransportChoice.devFuse.admits(transport) == (transport == .devFuse))
            #expect(TransportChoice.ioUring.admits(transport) == (transport == .ioUring))
        }
    }

    @Test func `each transport can be chosen by its own word`() {
        for transport in Transport.allCases {
            #expect(TransportChoice(rawValue: transport.rawValue)?.admits(transport) == true)
        }
    }
}
