// Noticing the removal of a directory entry, by inotify(7).

import CPlatform
import Glibc
public import SandboxModel

/// Watches one entry of a directory. The directory itself may be moved.
public final class RemovalWatch: Sendable {
    private let directory: Descriptor
    private let events: Descriptor
    private let name: FileName

    /// `inotify_init1(2)` and `inotify_add_watch(2)`.
    /// - Parameter directory: a path.
    /// - Throws: ENOENT or ENOTDIR of the directory; EMFILE or ENOSPC at the limits of inotify(7).
    public init(of name: FileName, in directory: String) throws(SystemError) {
        self.name = name
        self.directory = try Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY)
        events = Descriptor(owning: try systemCall { unsafe platform_watch_removals(directory) })
    }

    /// Calls back once, on a global queue, when the entry is gone.
    /// - Throws: as ``ReadinessWatch/init(of:ownedBy:for:)``.
    public func whenRemoved(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        wait(with: try ReadinessWatch(of: events.number, ownedBy: self, for: .reading), body)
    }

    private func wait(with watch: ReadinessWatch, _ body: @escaping @Sendable () -> Void) {
        watch.whenReady { [self] in
            if isRemoved() { body() } else { wait(with: watch, body) }
        }
    }

    /// `fstatat(2)`: whether the entry is gone. An entry that cannot be looked at counts as present.
    private func isRemoved() -> Bool {
        // The events only say that it is time to look.
        var discarded = [UInt8](repeating: 0, count: 4096)
        while unsafe read(events.number, &discarded, discarded.count) > 0 {}
        do throws(SystemError) {
            _ = try directory.status(of: name)
            return false
        } catch {
            return error == .noEntry
        }
    }
}
