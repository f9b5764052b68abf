// What the kernel keeps of a filesystem ahead of its readers and behind its writers: figures of each filesystem, in sysfs
// (Documentation/ABI/testing/sysfs-class-bdi).

import CPlatform
import Glibc

public enum ReadAhead {
    /// Kibibytes; nil where the filesystem has no figure of its own (tmpfs) or the system does not show it.
    public static func kibibytes(ofFilesystemAt path: String) -> Int? {
        controls(ofFilesystemAt: path).lazy.compactMap { BackingDevice.figure($0) }.first
    }

    /// Takes effect for files that are opened from now on. Does nothing where this process may not say so.
    public static func setKibibytes(_ figure: Int, ofFilesystemAt path: String) {
        for control in controls(ofFilesystemAt: path) where BackingDevice.set(control, to: figure) { return }
    }

    /// A filesystem on a whole device, or on none, has its own; one on a partition has that of the disk.
    private static func controls(ofFilesystemAt path: String) -> [String] {
        guard let number = BackingDevice.number(ofFilesystemAt: path) else { return [] }
        return ["/sys/class/bdi/\(number)/read_ahead_kb", "/sys/dev/block/\(number)/../queue/read_ahead_kb"]
    }
}

/// How many bytes of a filesystem the kernel lets be written to its cache and not written out. It is a bound that writers
/// are held to, somewhat late.
public enum DirtyPages {
    /// nil where the system does not show it.
    public static func bytes(ofFilesystemAt path: String) -> Int? {
        control(path, "max_bytes").flatMap { BackingDevice.figure($0) }
    }

    /// Does nothing where this process may not say so.
    public static func setBytes(_ bytes: Int, ofFilesystemAt path: String) {
        if let control = control(path, "max_bytes") { _ = BackingDevice.set(control, to: bytes) }
    }

    /// As ``setBytes(_:ofFilesystemAt:)``, in percent of what the kernel lets be unwritten at all.
    public static func setShare(_ percent: Int, ofFilesystemAt path: String) {
        if let control = control(path, "max_ratio") { _ = BackingDevice.set(control, to: percent) }
    }

    private static func control(_ path: String, _ name: String) -> String? {
        BackingDevice.number(ofFilesystemAt: path).map { "/sys/class/bdi/\($0)/\(name)" }
    }
}

/// The figures that the kernel has of a filesystem, each a file.
private enum BackingDevice {
    static func number(ofFilesystemAt path: String) -> String? {
        guard let device = (try? HostPath.status(path)).map({ UInt64($0.raw.st_dev) }) else { return nil }
        return "\(platform_device_major(device)):\(platform_device_minor(device))"
    }

    static func figure(_ control: String) -> Int? {
        guard let text = try? HostPath.contents(control) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).filter { !$0.isWhitespace })
    }

    static func set(_ control: String, to figure: Int) -> Bool {
        guard let file = try? Descriptor.open(path: control, flags: O_WRONLY) else { return false }
        try? file.append(Array("\(figure)".utf8))
        return true
    }
}
