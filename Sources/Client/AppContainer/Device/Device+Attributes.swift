// Protection class and exclusion from backups of a file, set through extended attributes of the mount.

import Glibc
import Platform
import SandboxModel

extension Device {
    /// Gives a file a protection class; a directory, the class of files that are created in it from now on.
    ///
    /// - Parameters:
    ///   - protection: nil for the class that the directory above gives.
    ///   - path: relative to the app's home. The app is mounted.
    ///   - app: the app's identifier.
    /// - Throws: an error of kind `notMounted`, `notFound`, `unsuitableFile` for a file without a class, `deviceLocked`
    ///   where the key is not available, or `notAllowed`.
    public func setProtection(
        _ protection: FileProtection?, of path: String, in app: String
    ) async throws(DeviceError) {
        try await set(ProtectionClass.attributeName, to: protection.map { Array($0.rawValue.utf8) }, of: path, in: app)
    }

    /// Marks a file or directory as excluded from backups, or removes the mark, in every form that a tool reads.
    ///
    /// - Parameters:
    ///   - isExcluded: false removes the mark.
    ///   - path: relative to the app's home. The app is mounted.
    ///   - app: the app's identifier.
    /// - Throws: an error of kind `notMounted`, `notFound`, `unsuitableFile` or `notAllowed`.
    public func setExcluded(_ isExcluded: Bool, _ path: String, of app: String) async throws(DeviceError) {
        try await set(
            BackupMark.attributeName, to: isExcluded ? BackupMark.canonicalValue : nil, of: path, in: app)
    }

    /// Marks a file or directory as excluded from backups.
    public func exclude(_ path: String, of app: String) async throws(DeviceError) {
        try await setExcluded(true, path, of: app)
    }

    /// Removes the mark that excludes a file or directory from backups.
    public func include(_ path: String, of app: String) async throws(DeviceError) {
        try await setExcluded(false, path, of: app)
    }

    /// - Parameter value: nil to remove the attribute.
    private func set(_ name: String, to value: [UInt8]?, of path: String, in app: String) async throws(DeviceError) {
        let whole = "\(try await mount(of: app).mountPoint)/\(path)"
        // Calls on the mount wait for its process.
        let result = await WorkQueue().run { () -> Result<Void, SystemError> in
            Result { () throws(SystemError) in
                let node = try Descriptor.openNode(path: whole)
                let kind = try node.status().kind
                guard kind == .file || kind == .directory else { throw .notSupported }
                let holder = AttributeHolder(file: node)
                do throws(SystemError) {
                    if let value {
                        try holder.set(Array(name.utf8), to: value)
                    } else {
                        try holder.remove(Array(name.utf8))
                    }
                } catch {
                    // Removing an attribute that is absent is no error.
                    guard value == nil, error == .noAttribute else { throw error }
                }
            }
        }
        guard case .failure(let error) = result else { return }
        // On a locked device a mark can be set; a class needs its key.
        let needsKey = error == .notPermitted && name == ProtectionClass.attributeName
        if needsKey, try await status().state != "unlocked" {
            throw DeviceError(.deviceLocked, "\(path) cannot be changed while the device is locked: unlock it first")
        }
        switch error {
        case .noEntry, .notDirectory: throw DeviceError(.notFound, "\(path) is not in the home of \(app)")
        case .notSupported:
            throw DeviceError(.unsuitableFile, "\(path) keeps no attribute: it is neither a file nor a directory")
        default: throw DeviceError(.notAllowed, "\(path) cannot be changed: \(error.message)")
        }
    }
}
