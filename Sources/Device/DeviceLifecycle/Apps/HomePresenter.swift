// The part of an update that the mounts carry out which show the app.

public import BackingStore
public import Platform
public import SandboxModel

/// An update that is ready to be decided on.
public struct AppUpdate: Sendable {
    /// The app as it is, and as it will be.
    public let old, new: InstalledApp
    /// Its extensions as they will be. They keep their data containers.
    public let extensions: [InstalledApp]
    /// The data container: the directory stays the same one, under another name.
    public let data: SharedDescriptor
}

/// Shows an app's home while the app is updated.
public protocol HomePresenter {
    /// Has entries of the home's top level exchanged, at a moment at which no lookup is under way, and shows the new
    /// home from then on.
    /// - Parameter body: exchanges them on the host. Called exactly once.
    func exchange(_ body: () throws(SystemError) -> Void) throws(SystemError)
    /// Completes the update: called when its last step is done, before the dropped files are removed.
    func completeUpdate()
    /// Records that a dropped file has no name left. Called for each, after ``completeUpdate()``.
    /// - Returns: whether the file is open, so that its space is subtracted when it is closed.
    func recordRemoval(ofInode inode: UInt64) -> Bool
}
