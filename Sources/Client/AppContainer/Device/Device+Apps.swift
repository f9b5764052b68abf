// Apps of a device: installed, mounted, run, removed.

extension Device {
    /// The apps that are installed.
    public func apps() async throws(DeviceError) -> [App] {
        try await send(AppsRequest())
    }

    /// The state of the device and its process.
    public func status() async throws(DeviceError) -> DeviceStatus {
        try await send(StatusRequest())
    }

    /// Installs a `.app` directory or an `.ipa`, or updates the app that is installed.
    ///
    /// - Parameters:
    ///   - path: the path of the app on the host.
    ///   - groups: identifiers of group containers that the app is entitled to.
    ///   - iCloud: identifiers of iCloud containers that the app is entitled to.
    ///   - requireSigned: refuse an app without a signature; otherwise the device signs it.
    ///   - trust: certificates as PEM text, of which one has to be the signer's or lead to it; any signer passes when
    ///     nil.
    ///   - terminate: end the installed app if it runs; otherwise its update is refused.
    ///   - replaceSigner: let an app of another signer take the place of the installed one.
    ///   - progress: called with the progress, up to ten times a second.
    /// - Throws: an error of kind `invalidApp`, `sealBroken`, `unsigned`, `invalidEntitlements`,
    ///   `anotherSigner`, `appRunning`, …
    @discardableResult
    public func install(
        _ path: String, groups: [String] = [], iCloud: [String] = [], requireSigned: Bool = false,
        trust: String? = nil, terminate: Bool = false, replaceSigner: Bool = false,
        progress: (@Sendable (WorkProgress) -> Void)? = nil
    ) async throws(DeviceError) -> App {
        try await send(
            InstallRequest(
                app: try Device.absolute(path), groups: groups, iCloud: iCloud, requireSigned: requireSigned,
                trust: trust, terminate: terminate, replaceSigner: replaceSigner), progress: progress)
    }

    /// Removes an app and its containers.
    /// - Throws: an error of kind `unknownApp`, `appRunning`, or `inUse` while it is mounted.
    public func uninstall(_ app: String) async throws(DeviceError) {
        _ = try await send(UninstallRequest(app: app))
    }

    /// Empties an app's data container to its state after the installation.
    public func reset(_ app: String) async throws(DeviceError) {
        _ = try await send(ResetRequest(app: app))
    }

    /// Entitles an installed app to further containers, live on a mount.
    @discardableResult
    public func entitle(
        _ app: String, groups: [String] = [], iCloud: [String] = []
    ) async throws(DeviceError) -> App {
        try await send(EntitleRequest(app: app, groups: groups, iCloud: iCloud))
    }

    /// Puts files or directories into an app's Inbox, as another app or Mail would.
    /// - Parameters:
    ///   - files: paths of the host.
    ///   - app: the app's identifier.
    ///   - anyType: whether items go in whose type the app does not declare in CFBundleDocumentTypes.
    /// - Returns: the paths of the delivered files, relative to the app's home.
    /// - Throws: an error of kind `deviceLocked` before first unlock, `undeclaredType`.
    @discardableResult
    public func deliver(
        _ files: [String], to app: String, anyType: Bool = false
    ) async throws(DeviceError) -> [String] {
        var paths: [String] = []
        for file in files { paths.append(try Device.absolute(file)) }
        return try await send(DeliverRequest(app: app, files: paths, anyType: anyType))
    }

    // MARK: Mounts

    /// Mounts an app's home.
    ///
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - mountPoint: a directory of the host. When nil, the device makes one that is named after the container, as on
    ///     a phone, and removes it with the mount.
    ///   - allowOther: let other users enter the mount.
    ///   - readOnly: refuse every write.
    ///   - running: mark the app running for as long as it is mounted, so that it is not purged.
    ///   - documents: show only `Documents`, for an app that shares its documents.
    ///   - cachedirTag: show a `CACHEDIR.TAG` in `Library/Caches` and `tmp`, by which backup tools know them.
    ///   - transport: nil for what `APPCONTAINER_TRANSPORT` named when the device's process started, else `auto`.
    /// - Throws: an error of kind `unknownApp`, `alreadyMounted`, `groupMounted`, `mountPoint`, `fuseMissing`, …
    @discardableResult
    public func mount(
        _ app: String, at mountPoint: String? = nil, allowOther: Bool = false, readOnly: Bool = false,
        running: Bool = false, documents: Bool = false, cachedirTag: Bool = false,
        transport: MountRequest.Transport? = nil
    ) async throws(DeviceError) -> Mount {
        var place: String?
        if let mountPoint { place = try Device.absolute(mountPoint) }
        return try await send(
            MountRequest(
                app: app, mountPoint: place, allowOther: allowOther, readOnly: readOnly, running: running,
                documents: documents, cachedirTag: cachedirTag, transport: transport))
    }

    /// Ends a mount.
    /// - Parameters:
    ///   - mount: as ``mount(of:)`` returns it.
    ///   - lazy: take the mount out of sight at once; it ends when the last file in it is closed.
    /// - Throws: an error of kind `notMounted`, or `inUse` while a file in it is open.
    public func unmount(_ mount: Mount, lazy: Bool = false) async throws(DeviceError) {
        _ = try await send(UnmountRequest(mountPoint: mount.mountPoint, lazy: lazy))
    }

    /// Waits for the end of a mount, by a request or from outside.
    public func waitForEnd(of mount: Mount) async throws(DeviceError) {
        _ = try await send(MountEndRequest(mountPoint: mount.mountPoint))
    }

    /// Listens at a further control socket for one user, who may handle the device, and nothing of the host.
    /// - Parameters:
    ///   - socket: an absolute path at which nothing is.
    ///   - user: the number of the user.
    /// - Throws: an error of kind `inUse` or `fileExists`.
    public func openControlSocket(at socket: String, for user: UInt32) async throws(DeviceError) {
        _ = try await send(OpenControlSocketRequest(socket: socket, user: user))
    }

    /// Ends a further control socket.
    public func closeControlSocket(at socket: String) async throws(DeviceError) {
        _ = try await send(CloseControlSocketRequest(socket: socket))
    }

    /// The mount of an app.
    /// - Throws: an error of kind `notMounted`.
    public func mount(of app: String) async throws(DeviceError) -> Mount {
        guard let mount = try await status().mounts.first(where: { $0.app == app }) else {
            throw DeviceError(.notMounted, "\(app) is not mounted; mount it first")
        }
        return mount
    }

    // MARK: Running

    /// Prepares an app to run and marks it running, for as long as the lease is kept.
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - extension: the name of one of its extensions, which is run in its place; nil for the app.
    ///   - verifyAll: verify the whole bundle, and not only files that seem to have changed.
    ///   - progress: called with the progress of the verification, up to ten times a second.
    /// - Throws: an error of kind `sealBroken` when the bundle was changed, `notFound` for an extension that it has
    ///   not.
    public func run(
        _ app: String, extension: String? = nil, verifyAll: Bool = false,
        progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
    ) async throws(DeviceError) -> RunLease {
        // Starts the process of a lasting device where it has ended.
        _ = try await status()
        let request = RunRequest(app: app, extension: `extension`, verifyAll: verifyAll)
        return try await client.run(request, progress: progress)
    }

    /// Marks an app running until it is terminated. Starts nothing.
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - extension: the name of one of its extensions, which is marked in its place; nil for the app.
    public func markRunning(_ app: String, extension: String? = nil) async throws(DeviceError) {
        _ = try await send(MarkRunningRequest(app: app, extension: `extension`))
    }

    /// Ends the processes and marks of an app and its extensions, or of one extension.
    /// - Parameters:
    ///   - app: the identifier of the app, or of an extension.
    ///   - memory: kill the processes at once, as a phone does where memory is short.
    /// - Throws: an error of kind `notRunning`.
    public func terminate(_ app: String, memory: Bool = false) async throws(DeviceError) {
        _ = try await send(TerminateRequest(app: app, memory: memory))
    }
}
