// What lies in a container, by size, as a tree that stays small whatever lies there: what is smaller than anybody could see
// is counted together.

public import BackingStore
import Glibc
import Platform
public import SandboxModel

/// A part of a container.
public struct SurveyedPart: Sendable {
    /// What parts that are counted together have in common.
    public struct Look: Hashable, Sendable {
        /// nil for a directory, and for what has no content.
        public let protection: ProtectionClass?
        public let isBackedUp: Bool
        public let isPurgeable: Bool
    }

    /// nil for several together.
    public let name: FileName?
    public let look: Look
    /// Of their contents.
    public internal(set) var bytes: Int64
    public internal(set) var files: Int
    /// nil for what is no directory. The largest come first.
    public internal(set) var parts: [SurveyedPart]?
}

/// Puts the tree together while a walk goes on.
struct SurveyBuilding {
    private struct Level {
        let path: [FileName]
        var part: SurveyedPart
        /// What is too small to be a part of its own.
        var small: [SurveyedPart.Look: (bytes: Int64, files: Int)] = [:]
    }

    /// Below so many bytes a part is counted with others.
    private let least: Int64
    private let isData: Bool
    private var levels: [Level] = []

    init(isData: Bool, least: Int64) {
        self.isData = isData
        self.least = least
    }

    mutating func add(
        _ place: ContainerPlace, _ inclusion: BackupInclusion, bytes: Int64, protection: ProtectionClass?
    ) {
        while let last = levels.last, !place.path.starts(with: last.path) { fold() }
        let isPurgeable = isData && PurgeableDirectory.allCases.contains { place.path.starts(with: $0.path) }
        let isDirectory = place.status.kind == .directory
        let look = SurveyedPart.Look(
            protection: protection, isBackedUp: inclusion == .included, isPurgeable: isPurgeable)
        let part = SurveyedPart(
            name: place.path.last, look: look, bytes: bytes, files: isDirectory ? 0 : 1, parts: isDirectory ? [] : nil)
        if isDirectory {
            levels.append(Level(path: place.path, part: part))
        } else {
            take(part)
        }
    }

    /// Ends the directory that the walk has left.
    private mutating func fold() {
        guard var level = levels.popLast() else { return }
        for (look, sum) in level.small {
            level.part.parts?.append(
                SurveyedPart(name: nil, look: look, bytes: sum.bytes, files: sum.files, parts: nil))
        }
        level.part.parts?.sort { $0.bytes > $1.bytes }
        guard !levels.isEmpty else {
            root = level.part
            return
        }
        // Small directories go into what is small of the one above, look by look.
        if level.part.bytes < least, level.path.count > 2 {
            for part in level.part.parts ?? [] { take(part) }
        } else {
            take(level.part)
        }
    }

    private var root: SurveyedPart?

    private mutating func take(_ part: SurveyedPart) {
        let top = levels.count - 1
        levels[top].part.bytes += part.bytes
        levels[top].part.files += part.files
        if part.parts == nil, part.bytes < least || part.name == nil {
            let sum = levels[top].small[part.look] ?? (0, 0)
            levels[top].small[part.look] = (sum.bytes + part.bytes, sum.files + part.files)
        } else {
            levels[top].part.parts?.append(part)
        }
    }

    mutating func finish() -> SurveyedPart? {
        while !levels.isEmpty { fold() }
        return root
    }
}

extension Device {
    /// Looks through the data, group and iCloud containers of an app.
    ///
    /// - Parameter openFile: the file that a volume has open for an inode of the host, if it has.
    /// - Returns: each container with its path in the app's home.
    public func survey(
        _ identifier: ContainerIdentifier, openFile: (UInt64) -> EncryptedFile? = { _ in nil },
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> [(path: String, part: SurveyedPart)] {
        let app = try app(identifier)
        let places =
            [("", ContainerKind.data, app.data)]
            + app.groups.map { ("Groups/\($0.identifier)", .group, $0.uuid) }
            + app.iCloud.map { ("iCloud/\($0.identifier)", .iCloud, $0.uuid) }
        var containers: [(path: String, descriptor: SharedDescriptor, kind: ContainerKind)] = []
        for (path, kind, uuid) in places {
            let container = try Complaint.wrap("cannot open a container of \(identifier)") { () throws(SystemError) in
                SharedDescriptor(try directory.container(kind, uuid))
            }
            containers.append((path, container, kind))
        }
        let total = containers.reduce(Int64(0)) { $0 + ((try? $1.descriptor.descriptor.contentSize()) ?? 0) }
        var surveyed: [(path: String, part: SurveyedPart)] = []
        var looked: Int64 = 0
        for (path, descriptor, kind) in containers {
            var building = SurveyBuilding(isData: kind == .data, least: total / Device.visibleFraction)
            var walk = ContainerWalk(kind, descriptor)
            try walk.run { (place, inclusion) throws(Complaint) in
                looked += 1
                guard progress(DeviceProgress(unit: .files, completed: looked, total: nil)) else {
                    throw Complaint.cancelled
                }
                let isFile = place.status.kind == .file
                let open = isFile ? openFile(place.status.inode) : nil
                let bytes = isFile ? open?.length ?? ContentLayout.length(ofBacking: place.status.size) : 0
                let protection = isFile ? open?.protection ?? place.protection : nil
                building.add(place, inclusion, bytes: bytes, protection: protection)
                return true
            }
            if let part = building.finish() { surveyed.append((path, part)) }
        }
        return surveyed
    }

    /// What is a smaller part of all than this cannot be seen in a picture of it.
    private static let visibleFraction: Int64 = 2000
}

extension ContainerPlace {
    /// The class that a file's header names.
    var protection: ProtectionClass? {
        guard let parent, let name = path.last,
            let backing = try? parent.descriptor.open(name, flags: O_RDONLY | O_NONBLOCK)
        else { return nil }
        return EncryptedFile.protection(of: backing)
    }
}
