// Attributes of a file behind an O_PATH descriptor. fchmod(2) and futimens(3) refuse those with EBADF, so the calls go
// through /proc/self/fd, which no rename can redirect.

import CPlatform
public import Glibc
public import SandboxModel

extension Descriptor {
    /// `fchmod(2)`, or `chmod(2)` of /proc/self/fd/N.
    public borrowing func changeModeOfNamed(_ mode: mode_t) throws(SystemError) {
        do throws(SystemError) {
            try changeMode(mode)
        } catch {
            guard error == .badDescriptor else { throw error }
            let path = "/proc/self/fd/\(number)"
            try systemCall { unsafe chmod(path, mode) }
        }
    }

    /// `fchownat(2)` with `AT_EMPTY_PATH`.
    public borrowing func changeOwnerOfNamed(_ owner: uid_t, group: gid_t) throws(SystemError) {
        let number = self.number
        try systemCall { unsafe fchownat(number, "", owner, group, platform_AT_EMPTY_PATH) }
    }

    /// `futimens(3)`, or `utimensat(2)` of /proc/self/fd/N.
    public borrowing func changeTimesOfNamed(access: timespec, modification: timespec) throws(SystemError) {
        do throws(SystemError) {
            try changeTimes(access: access, modification: modification)
        } catch {
            guard error == .badDescriptor else { throw error }
            let path = "/proc/self/fd/\(number)"
            var times = (access, modification)
            try systemCall {
                unsafe withUnsafeBytes(of: &times) { bytes in
                    unsafe utimensat(AT_FDCWD, path, bytes.baseAddress!.assumingMemoryBound(to: timespec.self), 0)
                }
            }
        }
    }
}

extension timespec {
    /// `UTIME_OMIT` of utimensat(2), which Swift does not import.
    public static let unchanged = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
    /// `UTIME_NOW`.
    public static let current = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)
}
