// The volumes of one state directory: made, used, removed. It knows no engine's protocol.

import AppContainer
import BackingStore
import DeviceLifecycle
import Glibc
import Platform
public import SandboxModel

/// Carries out what a container engine asks of volumes. Every call may come twice, after a call that failed, or after
/// this process was killed in the middle of one; what is there already is left as it is.
///
/// Calls on one device come one after the other, and those on different devices at once.
public final class VolumeStore: Sendable {
    let state: VolumeState
    let templates: TemplateDirectory
    let secrets: SecretDirectory?
    let processes: DeviceProcesses
    /// The order: a volume's own name first, then its device's.
    let turns = NamedTurns()
    /// The boot of the host, in which uses count.
    let boot: String
    /// The uses that began in this process.
    let begun = BegunUses()

    /// Opens the state directory. ``recover()`` comes before all else.
    /// - Parameters:
    ///   - program: the path of the command `appcontainer`; nil where this process is one.
    ///   - slice: the slice of systemd that the devices' processes are in, such as `appcontainer-volumes.slice`.
    ///   - warn: takes one line for the log.
    /// - Throws: ``Complaint`` of kind `inUse`, `notFound`, `notAllowed`.
    public init(
        state: String, templates: String, secrets: String?, program: String? = nil, slice: String,
        warn: @escaping @Sendable (String) -> Void
    ) throws(Complaint) {
        self.state = try VolumeState(state)
        self.templates = try TemplateDirectory(templates, state: self.state)
        self.secrets = try secrets.map { (path) throws(Complaint) in try SecretDirectory(path) }
        processes = try DeviceProcesses(program: program, slice: slice, warn: warn)
        boot = try Complaint.wrap("cannot read the host's boot id") { () throws(SystemError) in
            try HostBoot.identifier()
        }
    }

    /// A volume as engines show it.
    public struct Volume: Sendable {
        public let name: String
        /// Where it is seen; empty while nobody uses it.
        public let mountPoint: String
        /// The directory of its device.
        public let device: String
        /// The app that it shows; nil for a control socket.
        public let app: String?
    }

    private func volume(_ record: VolumeRecord) -> Volume {
        Volume(
            name: record.name, mountPoint: record.uses.isEmpty ? "" : state.mountPoint(record.name),
            device: state.device(record.device), app: record.app)
    }

    /// All volumes, by name.
    public var volumes: [Volume] { state.volumes.records.map(volume) }

    /// - Throws: ``Complaint`` of kind `notFound`.
    public func volume(_ name: String) throws(Complaint) -> Volume {
        volume(try required(try VolumeName(name)))
    }

    /// - Throws: ``Complaint`` of kind `notFound`.
    func required(_ name: VolumeName) throws(Complaint) -> VolumeRecord {
        guard let record = try state.volumes.record(name.text) else {
            throw Complaint(.notFound, "there is no volume \(name.text)")
        }
        return record
    }

    /// Runs an operation on a device, after the others.
    func onDevice<Result>(
        of record: VolumeRecord, _ body: () async throws(Complaint) -> Result
    ) async throws(Complaint) -> Result {
        try await onDevice(named: record.device, body)
    }

    /// - Parameter name: of the volume that the device was made for.
    func onDevice<Result>(
        named name: String, _ body: () async throws(Complaint) -> Result
    ) async throws(Complaint) -> Result {
        try await turns.run("device \(name)", body)
    }

    // MARK: The socket

    /// Makes room for a socket: removes one at which nobody listens any more.
    /// - Throws: ``Complaint`` of kind `inUse` or `fileExists`.
    public static func clear(_ socket: String) throws(Complaint) {
        if (try? Descriptor.connected(toSocket: socket)) != nil {
            throw Complaint(.inUse, "another process listens at \(socket); end that first")
        }
        guard let status = try? HostPath.status(socket, following: false) else { return }
        guard status.kind == .socket else {
            throw Complaint(.fileExists, "\(socket) is there, and no socket; name another place")
        }
        try? HostPath.removeFile(socket)
    }

    // MARK: Space

    /// The space of a volume, as statfs(2) of it tells.
    public struct Space: Sendable {
        /// Bytes. Those that a purge would free count as available.
        public let total, available, used: Int64
        public let files, freeFiles: Int64
    }

    /// The space of the volume that a directory shows.
    /// - Throws: ``Complaint`` of kind `notFound` for one that shows none.
    public func space(at path: String) async throws(Complaint) -> Space {
        guard state.volumes.records.contains(where: { $0.uses.contains(path) }), MountInfo.topmost(at: path) != nil
        else {
            throw Complaint(.notFound, "\(path.utf8.shown) shows no volume")
        }
        return try await blocking { () throws(Complaint) in
            let figures = try Complaint.wrapNamed("cannot look at \(path)") { () throws(SystemError) in
                try Descriptor.openDirectory(path: path).filesystemStatistics()
            }
            let size = Int64(figures.f_frsize)
            let (total, free) = (Int64(figures.f_blocks) * size, Int64(figures.f_bfree) * size)
            return Space(
                total: total, available: Int64(figures.f_bavail) * size, used: total - free,
                files: Int64(figures.f_files), freeFiles: Int64(figures.f_ffree))
        }
    }

    /// Bytes of the host that are available for volumes.
    public var availableSpace: Int64 {
        guard let figures = try? state.root.descriptor.filesystemStatistics() else { return 0 }
        return Int64(figures.f_bavail) * Int64(figures.f_frsize)
    }

    /// The version of this program.
    public static var version: String { AppContainer.version }
}
