// Passcodes from files.

import SandboxModel
import TestSupport
import Testing

@testable import Volumes

@Suite struct SecretDirectoryTests {
    private let scratch = Scratch()

    @Test func `the first line is the passcode`() throws {
        try shell("cd '\(scratch.path)' && printf '1234\\nmore\\n' >a && printf 5678 >b && ln -s b c")
        let secrets = try SecretDirectory(scratch.path)
        #expect(try secrets.passcode("a") == "1234")
        #expect(try secrets.passcode("b") == "5678")
        #expect(try secrets.passcode("c") == "5678", "a link is how a secret is replaced")
    }

    @Test func `a mistake is told, and nothing is waited for`() throws {
        try shell("cd '\(scratch.path)' && touch empty && printf '\\377\\n' >bytes && mkfifo fifo && mkdir folder")
        let secrets = try SecretDirectory(scratch.path)
        #expect(complaint { _ = try secrets.passcode("missing") }?.kind == .notFound)
        #expect(complaint { _ = try secrets.passcode("empty") }?.kind == .passcodeNeeded)
        #expect(complaint { _ = try secrets.passcode("bytes") }?.kind == .invalidPasscode)
        #expect(complaint { _ = try secrets.passcode("fifo") } != nil)
        #expect(complaint { _ = try secrets.passcode("folder") } != nil)
        #expect(complaint { _ = try SecretDirectory(scratch["no folder"]) } != nil)
    }
}
