// Read-ahead and dirty-page limits of a filesystem, by sysfs (Documentation/ABI/testing/sysfs-class-bdi).

import CPlatform
import Glibc
import SandboxModel

public enum ReadAhead {
    /// In KiB; nil where the filesystem has no value of its own (tmpfs) or sysfs is not readable.
    public static func kibibytes(ofFilesystemAt path: String) -> Int? {
        controls(ofFilesystemAt: path).lazy.compactMap { BackingDevice.figure($0) }.first
    }

    /// Applies to files opened from now on. Does nothing without permission.
    public static func setKibibytes(_ figure: Int, ofFilesystemAt path: String) {
        for control in controls(ofFilesystemAt: path) where BackingDevice.set(control, to: figure) { return }
    }

    /// A filesystem on a partition shares the value of its disk.
    private static func controls(ofFilesystemAt path: String) -> [String] {
        guard let number = BackingDevice.number(ofFilesystemAt: path) else { return [] }
        return ["/sys/class/bdi/\(number)/read_ahead_kb", "/sys/dev/block/\(number)/../queue/read_ahead_kb"]
    }
}

/// How many bytes of a filesystem may be dirty in the page cache. The kernel enforces the limit late.
public enum DirtyPages {
    /// nil where sysfs is not readable.
    public static func bytes(ofFilesystemAt path: String) -> Int? {
        control(path, "max_bytes").flatMap { BackingDevice.figure($0) }
    }

    /// Does nothing without permission.
    public static func setBytes(_ bytes: Int, ofFilesystemAt path: String) {
        if let control = control(path, "max_bytes") { _ = BackingDevice.set(control, to: bytes) }
    }

    /// As ``setBytes(_:ofFilesystemAt:)``, in percent of the system's own limit.
    public static func setShare(_ percent: Int, ofFilesystemAt path: String) {
        if let control = control(path, "max_ratio") { _ = BackingDevice.set(control, to: percent) }
    }

    private static func control(_ path: String, _ name: String) -> String? {
        BackingDevice.number(ofFilesystemAt: path).map { "/sys/class/bdi/\($0)/\(name)" }
    }
}

/// The files of sysfs that hold these values.
private enum BackingDevice {
    /// The device number `MAJOR:MINOR`, by which sysfs names it.
    static func number(ofFilesystemAt path: String) -> String? {
        let status = try? ActingUser.asSuperuser { () throws(SystemError) in try HostPath.status(path) }
        guard let device = status.map({ UInt64($0.raw.st_dev) }) else { return nil }
        return "\(platform_device_major(device)):\(platform_device_minor(device))"
    }

    static func figure(_ control: String) -> Int? {
        guard let text = try? HostPath.contents(control) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace })
    }

    /// - Returns: false if the control cannot be opened. Errors of writing are ignored: the value then stays.
    static func set(_ control: String, to figure: Int) -> Bool {
        let opened = try? ActingUser.asSuperuser { () throws(SystemError) in
            SharedDescriptor(try Descriptor.open(path: control, flags: O_WRONLY))
        }
        guard let opened else { return false }
        try? opened.descriptor.append(Array("\(figure)".utf8))
        return true
    }
}
