// Locks as /proc tells of them.

import Glibc
import SandboxModel
import Testing

@testable import Platform

@Suite struct HeldFileLocksTests {
    private func parsed(_ line: String) -> HeldFileLock? { HeldFileLock(line: line.utf8) }

    @Test func `a line of each form is read`() {
        let all = 0...UInt64.max
        #expect(
            parsed("lock:\t1: FLOCK  ADVISORY  WRITE 812 00:2a:33 0 EOF")
                == HeldFileLock(FileLock(.flock, isExclusive: true, bytes: all), device: 0x2a, inode: 33))
        #expect(
            parsed("lock:\t2: POSIX  ADVISORY  READ 7312 fe:00:16229106 1073741826 1073742335")
                == HeldFileLock(
                    FileLock(.posix, isExclusive: false, bytes: 1_073_741_826...1_073_742_335),
                    device: 0xfe << 32, inode: 16_229_106))
        #expect(
            parsed("lock:\t1: OFDLCK ADVISORY  WRITE -1 00:2a:18446744073709551615 5 5")
                == HeldFileLock(FileLock(.ofd, isExclusive: true, bytes: 5...5), device: 0x2a, inode: .max))
    }

    @Test(arguments: [
        "", "lock:", "pos:\t0", "flags:\t0100002", "lock:\t1: LEASE  ACTIVE    WRITE 812 00:2a:33 0 EOF",
        "lock:\t1: POSIX  ADVISORY  WRITE 812 00:2a 0 EOF", "lock:\t1: POSIX  ADVISORY  WRITE 812 00:2a:x 0 EOF",
        "lock:\t1: POSIX  ADVISORY  WRITE 812 00:2a:33 9 3", "lock:\t1: POSIX  ADVISORY  WRITE 812 00:2a:33 0",
        "lock:\t1: POSIX  ADVISORY  WRITE 812 00:2a:33 0 EOF more",
    ])
    func `any other line is no lock`(_ line: String) {
        #expect(parsed(line) == nil)
    }

    @Test func `the locks of this process are found by device and inode`() throws {
        var template = Array("/tmp/locks-XXXXXX".utf8CString)
        let number = unsafe mkstemp(&template)
        try #require(number >= 0)
        defer {
            close(number)
            unsafe unlink(template)
        }
        var status = stat()
        unsafe fstat(number, &status)
        func held() throws -> Set<FileLock> {
            Set(try HeldFileLock.all(of: getpid()).filter { $0.inode == UInt64(status.st_ino) }.map(\.lock))
        }
        #expect(try held().isEmpty)
        try #require(flock(number, LOCK_SH) == 0)
        #expect(try held() == [FileLock(.flock, isExclusive: false, bytes: 0...UInt64.max)])
        try #require(flock(number, LOCK_UN) == 0)
        try #require(lockf(number, F_LOCK, 7) == 0)
        #expect(try held() == [FileLock(.posix, isExclusive: true, bytes: 0...6)])
        try #require(lockf(number, F_ULOCK, 0) == 0)
        #expect(try held().isEmpty)
    }

    @Test func `a process that is not there has none to tell of`() {
        #expect(throws: SystemError.self) { try HeldFileLock.all(of: pid_t.max) }
    }
}
