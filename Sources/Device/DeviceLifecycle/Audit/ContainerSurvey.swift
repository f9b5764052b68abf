// The survey of an app's containers: their content by size.

public import BackingStore
import Platform
public import SandboxModel

/// A part of a container.
public struct SurveyedPart: Sendable {
    /// The features by which small parts are counted together.
    public struct Look: Hashable, Sendable {
        /// nil for a directory, and for an entry without content.
        public let protection: ProtectionClass?
        public let isBackedUp: Bool
        public let isPurgeable: Bool
    }

    /// nil for several parts together.
    public let name: FileName?
    public let look: Look
    /// Of the files' contents.
    public internal(set) var bytes: Int64
    public internal(set) var files: Int
    /// nil except for a directory. The largest come first.
    public internal(set) var parts: [SurveyedPart]?
}

extension BootedDevice {
    /// Surveys the data, group and iCloud containers of an app.
    ///
    /// - Parameters:
    ///   - openFile: the file that a volume has open for an inode of the host; nil if none has.
    ///   - progress: files seen; false cancels.
    /// - Returns: each container with its path in the app's home.
    public func survey(
        _ identifier: ContainerIdentifier, openFile: (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> [(path: String, part: SurveyedPart)] {
        try SurveyRun(of: try app(identifier), in: directory).run(openFile: openFile, progress: progress)
    }
}

/// One survey of an app's containers, which are open from its beginning, so that a restore meanwhile does not mix two.
private struct SurveyRun {
    private struct Container {
        /// In the app's home; empty for the data container.
        let path: String
        let directory: SharedDescriptor
        let kind: ContainerKind
    }

    private let containers: [Container]

    init(of app: InstalledApp, in directory: DeviceDirectory) throws(Complaint) {
        let places =
            [("", ContainerKind.data, app.data)]
            + app.groups.map { ("Groups/\($0.identifier)", .group, $0.uuid) }
            + app.iCloud.map { ("iCloud/\($0.identifier)", .iCloud, $0.uuid) }
        var containers: [Container] = []
        for (path, kind, uuid) in places {
            let container = try Complaint.wrap("cannot open a container of \(app.identifier)") {
                () throws(SystemError) in
                SharedDescriptor(try directory.container(kind, uuid))
            }
            containers.append(Container(path: path, directory: container, kind: kind))
        }
        self.containers = containers
    }

    /// - Returns: each container with its path in the app's home.
    func run(
        openFile: (UInt64) -> EncryptedFile?, progress: (DeviceProgress) -> Bool
    ) throws(Complaint) -> [(path: String, part: SurveyedPart)] {
        // Of the backing files: only the limit below which a part is small depends on it.
        let total = containers.reduce(Int64(0)) { $0 + ((try? $1.directory.descriptor.contentSize()) ?? 0) }
        var surveyed: [(path: String, part: SurveyedPart)] = []
        var seen: Int64 = 0
        for container in containers {
            var tree = SurveyTree(of: container.kind, least: total / SurveyTree.visibleFraction)
            var walk = ContainerWalk(container.kind, container.directory)
            try walk.run { (place, inclusion) throws(Complaint) in
                seen += 1
                guard progress(DeviceProgress(unit: .files, completed: seen, total: nil)) else {
                    throw Complaint.cancelled
                }
                let isFile = place.status.kind == .file
                // An open file knows its length and class; the host learns of both later.
                let open = isFile ? openFile(place.status.inode) : nil
                let bytes = isFile ? open?.length ?? ContentLayout.length(ofBacking: place.status.size) : 0
                let protection = isFile ? open?.protection ?? place.protection : nil
                tree.add(place, inclusion, bytes: bytes, protection: protection)
                return true
            }
            if let part = tree.finish() { surveyed.append((container.path, part)) }
        }
        return surveyed
    }
}
