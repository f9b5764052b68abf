// Tests of the limit of open files.

import Glibc
import Platform
import Testing

// It belongs to the process: no other test may change it meanwhile.
@Suite(.serialized) struct OpenFileLimitTests {
    private func soft() -> Int {
        var limits = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return Int(clamping: limits.rlim_cur)
    }

    @Test func `it is the kernel's, and stays so when it is changed here`() throws {
        let former = OpenFileLimit.current
        #expect(former == soft())
        defer { try? OpenFileLimit.set(former) }
        try OpenFileLimit.set(former - 1)
        #expect(OpenFileLimit.current == former - 1 && soft() == former - 1)
        OpenFileLimit.raise()
        #expect(OpenFileLimit.current == soft() && soft() >= former)
    }

    @Test func `descriptors near it belong to the reserve`() {
        let limit = OpenFileLimit.current
        #expect(DescriptorReserve.holds(Int32(clamping: limit - 1)))
        #expect(!DescriptorReserve.holds(Int32(clamping: limit / 2)))
    }
}
