// The bundles that are installed: their keys, the lists of digests that they are read with, and the device's identity
// that signs apps which nobody has signed.

public import BackingStore
import BundleSeal
import DataProtection
import Platform
public import SandboxModel

/// Opens and signs the bundles of a device.
struct InstalledBundles: Sendable {
    let directory: DeviceDirectory
    let lock: DeviceLock
    let staging: StagingArea

    /// The key that authenticates a bundle's list of digests. UID key and container's UUID are a part of it, so that
    /// the list of another device or container does not pass.
    func key(of container: ContainerUUID) throws(Complaint) -> BundleKey {
        BundleKey(try directory.uidKey(), container: container.text)
    }

    /// The device's own signing identity, made when it is first needed. The caller changes apps, so that one call at a
    /// time makes it.
    /// - Throws: ``Complaint`` of kind `damaged`.
    func identity() throws(Complaint) -> SigningIdentity {
        let path = "\(directory.path)/\(DeviceDirectory.Name.identity.text)"
        if let bytes = try directory.identity() {
            do throws(SealFault) {
                return try SigningIdentity(pem: bytes)
            } catch {
                throw Complaint(
                    .damaged, "\(path) is damaged: \(error.reason); remove it, and the device makes another")
            }
        }
        let identity = SigningIdentity(commonName: "appcontainer device \(directory.uuid)")
        try directory.replaceIdentity(with: identity.pem, holding: lock)
        return identity
    }

    /// - Throws: ``Complaint`` of kind `damaged` where the bundle or its list of digests is missing.
    func open(_ app: InstalledApp) throws(Complaint) -> SealedBundle {
        let key = try key(of: app.bundle)
        let bundle: SealedBundle?
        do throws(SystemError) {
            bundle = try SealedBundle(
                in: try directory.container(.bundle, app.bundle), name: app.bundleName, key: key,
                use: staging.use(of: app.bundle))
        } catch {
            guard error == .noEntry || error == .notDirectory else {
                throw Complaint(error, doing: "cannot open the bundle of \(app.identifier)")
            }
            throw Complaint(
                .damaged,
                "\(directory.path) lacks the bundle of \(app.identifier); restore it from a copy of the device")
        }
        guard let bundle else {
            throw Complaint(
                .damaged,
                "what was verified of \(app.bundleName.text) is missing or damaged; uninstall \(app.identifier) and "
                    + "install it again, or restore it from a copy of the device")
        }
        return bundle
    }
}

extension BootedDevice {
    var bundles: InstalledBundles { InstalledBundles(directory: directory, lock: lock, staging: staging) }

    /// Opens the bundle of an installed app.
    /// - Throws: ``Complaint`` of kind `damaged`.
    public func sealedBundle(of app: InstalledApp) throws(Complaint) -> SealedBundle { try bundles.open(app) }
}
