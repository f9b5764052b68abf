// Where an error of the host becomes a fault of the filesystem: the one funnel of this room.

import Platform
public import SandboxModel

/// Runs system calls of the host and turns their error into a ``Fault``.
@inline(__always)
public func onHost<Result: ~Copyable>(_ body: () throws(SystemError) -> Result) throws(Fault) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw Fault.system(error)
    }
}
