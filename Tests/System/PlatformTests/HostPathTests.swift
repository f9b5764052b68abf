// Tests of paths that are taken apart.

import Platform
import SandboxModel
import Testing

@Suite struct HostPathTests {
    private func error(of path: String) -> SystemError? {
        do throws(SystemError) {
            _ = try HostPath.newPlace(of: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a path at which nothing can be made is told by the errno that open(2) has for it`() {
        #expect(error(of: "/tmp/" + String(repeating: "0", count: 255)) == nil)
        #expect(error(of: "/tmp/" + String(repeating: "0", count: 256)) == .nameTooLong)
        #expect(error(of: "/tmp/" + String(repeating: "ä", count: 128)) == .nameTooLong)
        for path in ["/", "/tmp/", "/tmp/.", "/tmp/.."] { #expect(error(of: path) == .isDirectory) }
    }

    @Test func `a path that no file has is a bad request, whoever named it`() {
        for error in [SystemError.isDirectory, .nameTooLong] {
            #expect(Complaint(named: error, doing: "cannot make it").kind == .badRequest)
        }
    }
}
