// The funnel in which an error of the host becomes a fault of the filesystem.

import Platform
public import SandboxModel

/// Runs system calls on the host, and turns their error into a ``Fault``.
@inline(__always)
public func onHost<Result: ~Copyable>(_ body: () throws(SystemError) -> Result) throws(Fault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw Fault.system(error)
    }
}
