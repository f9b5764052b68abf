// The bundles that are installed: the keys and the lists that they are read with.

public import BackingStore
import BundleSeal
import DataProtection
import Platform
public import SandboxModel

extension Device {
    func bundleKey(of container: ContainerUUID) throws(Complaint) -> BundleKey {
        BundleKey(try directory.uidKey(), container: container.text)
    }

    /// The device's own signing identity, made when it is first needed.
    func identity() throws(Complaint) -> SigningIdentity {
        let path = "\(directory.path)/\(DeviceDirectory.identityName.text)"
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

    /// Opens the bundle of an installed app.
    /// - Throws: ``Complaint`` of kind `damaged`.
    public func sealedBundle(of app: InstalledApp) throws(Complaint) -> SealedBundle {
        let key = try bundleKey(of: app.bundle)
        let bundle: SealedBundle?
        do throws(SystemError) {
            bundle = try SealedBundle(
                in: try directory.container(.bundle, app.bundle), name: app.bundleName, key: key,
                use: stagingUse.use(of: app.bundle))
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
