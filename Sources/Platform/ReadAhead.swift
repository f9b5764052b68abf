// How much of a file the kernel reads before it is asked: a figure of each filesystem, in sysfs
// (Documentation/ABI/testing/sysfs-class-bdi).

import CPlatform
import Glibc

public enum ReadAhead {
    /// Kibibytes; nil where the filesystem has no figure of its own (tmpfs) or the system does not show it.
    public static func kibibytes(ofFilesystemAt path: String) -> Int? {
        controls(ofFilesystemAt: path).lazy.compactMap { control in
            guard let text = try? HostPath.contents(control) else { return nil }
            return Int(String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace })
        }.first
    }

    /// Takes effect for files that are opened from now on. Does nothing where this process may not say so.
    public static func setKibibytes(_ figure: Int, ofFilesystemAt path: String) {
        for control in controls(ofFilesystemAt: path) {
            guard let file = try? Descriptor.open(path: control, flags: O_WRONLY) else { continue }
            try? file.append(Array("\(figure)".utf8))
            return
        }
    }

    /// A filesystem on a whole device, or on none, has its own; one on a partition has that of the disk.
    private static func controls(ofFilesystemAt path: String) -> [String] {
        guard let device = (try? HostPath.status(path)).map({ UInt64($0.raw.st_dev) }) else { return [] }
        let number = "\(platform_device_major(device)):\(platform_device_minor(device))"
        return ["/sys/class/bdi/\(number)/read_ahead_kb", "/sys/dev/block/\(number)/../queue/read_ahead_kb"]
    }
}
