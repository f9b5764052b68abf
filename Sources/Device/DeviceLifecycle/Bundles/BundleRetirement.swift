// The end of a bundle that an update has replaced: descriptors that are open in it, and processes whose directory it
// is, go on working until the last of them is gone.

import BackingStore
import Platform
import SandboxModel

/// Takes a replaced bundle out of sight, and removes it when it is not in use any more.
struct BundleRetirement {
    private let bundle: ContainerUUID
    private let device: BootedDevice

    init(of bundle: ContainerUUID, on device: BootedDevice) {
        self.bundle = bundle
        self.device = device
    }

    /// Moves the bundle into the staging directory. It is removed with the other leftovers there, or after its last
    /// use. The caller changes apps.
    func begin() {
        device.space.countGoing([(.bundle, bundle)])
        let use = device.staging.presentUse(of: bundle)
        // Before the rename, so that no removal of leftovers takes a bundle that is open.
        if use != nil { device.staging.keep(bundle) }
        // A bundle that is missing or cannot be moved is left for the next boot, which could do no more here.
        try? device.directory.containers(.bundle)
            .rename(bundle.fileName, to: bundle.fileName, in: device.directory.staging())
        device.reached(.retiredBundle)
        use?.whenUnused { [weak device, bundle] in
            guard let device else { return }
            // The last use may end under locks of a volume.
            WorkQueue().start { BundleRetirement(of: bundle, on: device).finish() }
        }
    }

    /// Removes the bundle, unless the device has ended: then the next boot removes it.
    private func finish() {
        try? device.installedApps.changing { (_) throws(Complaint) in
            device.staging.release(bundle)
            // Another process may have the device by now.
            guard !device.installedApps.hasEnded else { return }
            device.staging.remove(bundle.fileName)
        }
    }
}
