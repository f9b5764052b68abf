// Tests of walks along a path that follow this process's own links only.

import Platform
import SandboxModel
import Testing

@Suite struct OutputPlaceTests {
    private func error(of path: String) -> SystemError? {
        do throws(SystemError) {
            _ = try Descriptor.openDirectory(byOwnLinks: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a part of a path that no file has is told by the errno that open(2) has for it`() {
        #expect(error(of: "/" + String(repeating: "0", count: 255)) == .noEntry)
        #expect(error(of: "/" + String(repeating: "0", count: 256)) == .nameTooLong)
        #expect(error(of: "") == .noEntry)
        #expect(error(of: "/dev/null/none") == .notDirectory)
        #expect(error(of: "/./usr/../tmp") == nil)
    }
}
