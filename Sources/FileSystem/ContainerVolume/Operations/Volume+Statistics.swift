// statfs: the host filesystem's figures, within the device's capacity.

import BackingStore
public import Glibc
import Platform
public import SandboxModel

extension Volume {
    /// The filesystem's figures, as statvfs(3) gives them: the host's, with the space that the device has.
    public func statistics() throws(Fault) -> statvfs {
        var statistics = try onHost { () throws(SystemError) in try device.descriptor.filesystemStatistics() }
        guard space.capacity != nil, statistics.f_frsize > 0 else { return statistics }
        let (figures, size) = (space.figures, Int64(statistics.f_frsize))
        statistics.f_blocks = fsblkcnt_t(figures.total / size)
        statistics.f_bfree = fsblkcnt_t(figures.free / size)
        statistics.f_bavail = fsblkcnt_t(figures.available / size)
        return statistics
    }
}
