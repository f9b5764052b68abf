// Tests of the command's output: help pages, usual sessions and their errors.

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
