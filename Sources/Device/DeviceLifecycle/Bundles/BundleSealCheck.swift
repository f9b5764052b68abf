// The check of an installed bundle against what was verified, before an app runs.

public import BackingStore
import BundleSeal
import DataProtection
import Platform
public import SandboxModel

extension BootedDevice {
    /// Checks that the backing copy of an app's bundle is what was installed.
    ///
    /// Files whose size, times and inode are those of the last verification are trusted; any other is read, and
    /// remembered when it is right, so that a device that was copied is read once.
    ///
    /// - Parameters:
    ///   - readingAll: trust no file.
    ///   - progress: bytes read.
    /// - Returns: the path in the bundle of the first resource that is missing or invalid; nil when all are right.
    /// - Throws: ``Complaint`` of kind `damaged` when the list of digests itself is.
    public func firstBreak(
        of app: InstalledApp, readingAll: Bool, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> String? {
        let bundle = try sealedBundle(of: app)
        let doing = "cannot look at the bundle of \(app.identifier)"
        let tree = try Complaint.wrap(doing) { () throws(SystemError) in try BundleTree(of: bundle.root) }
        var comparison = BundleComparison(bundle, tree, readingAll: readingAll)
        let total = comparison.bytes
        var done: Int64 = 0
        let finished = try Complaint.wrap(doing) { () throws(SystemError) in
            try comparison.read(context) { count in
                done += count
                return progress(DeviceProgress(unit: .bytes, completed: min(done, total), total: total))
            }
        }
        guard finished else { throw Complaint.cancelled }
        // The first by name, so that the same damage gives the same message.
        if let path = comparison.breaks.min() { return path }
        guard let digests = comparison.renewed else { return nil }
        try installedApps.changing { (_) throws(Complaint) in
            let key = try bundles.key(of: app.bundle)
            try Complaint.wrap(doing) { () throws(SystemError) in
                let container = try directory.container(.bundle, app.bundle)
                try RecordFile(name: BundleDigests.fileName).replace(with: digests.encoded(key), in: container)
            }
        }
        return nil
    }
}
