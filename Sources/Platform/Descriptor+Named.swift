// Attributes of a file that is known by a descriptor which only names it (O_PATH): fchmod and futimens refuse those,
// so the call goes through /proc/self/fd, which no rename can redirect.

import CPlatform
public import Glibc
public import SandboxModel

/// `UTIME_OMIT` and `UTIME_NOW` of utimensat(2), which Swift does not import.
public let omitTime = (1 << 30) - 2
public let currentTime = (1 << 30) - 1

extension Descriptor {
    public borrowing func changeModeOfNamed(_ mode: mode_t) throws(SystemError) {
        let path = "/proc/self/fd/\(number)"
        try systemCall { unsafe chmod(path, mode) }
    }

    public borrowing func changeOwnerOfNamed(_ owner: uid_t, group: gid_t) throws(SystemError) {
        let number = self.number
        try systemCall { unsafe fchownat(number, "", owner, group, platform_AT_EMPTY_PATH) }
    }

    public borrowing func changeTimesOfNamed(access: timespec, modification: timespec) throws(SystemError) {
        let path = "/proc/self/fd/\(number)"
        var times = (access, modification)
        try systemCall {
            unsafe withUnsafeBytes(of: &times) { bytes in
                unsafe utimensat(AT_FDCWD, path, bytes.baseAddress!.assumingMemoryBound(to: timespec.self), 0)
            }
        }
    }
}
