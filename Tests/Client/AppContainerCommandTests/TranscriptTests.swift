// The command as its user sees it: every help page, the usual sessions, and what goes wrong in them.

import Testing

@Suite struct TranscriptTests {
    @Test(arguments: [
        "help", "usage", "devices", "apps", "passcode", "lock", "mounts", "names", "running", "seal", "purge",
        "exclusion",
    ])
    func `the session reads as it did`(name: String) async throws {
        try await Sandbox.run { sandbox in
            try Transcript(name).play(in: sandbox)
        }
    }
}
