// A container by size, as a tree.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// The tree of a survey, put together while a walk goes on. It stays small whatever the container holds: parts that are
/// too small to be seen are counted together.
struct SurveyTree {
    private struct Level {
        let depth: Int
        var part: SurveyedPart
        /// Parts that are too small to be shown, added up by their look.
        var small: [SurveyedPart.Look: (bytes: Int64, files: Int)] = [:]
    }

    /// A smaller part of everything cannot be seen in a picture of it.
    static let visibleFraction: Int64 = 2000

    /// Below so many bytes a part is counted with others.
    private let least: Int64
    /// The directories of the container whose entries may be purged.
    private let purgeable: [PurgeableDirectory]
    /// The directories from the container down to the one that the walk is in.
    private var levels: [Level] = []

    /// - Parameter least: bytes; smaller parts are counted together.
    init(of kind: ContainerKind, least: Int64) {
        purgeable =
            switch kind {
            case .data: PurgeableDirectory.allCases
            case .group: PurgeableDirectory.ofGroup
            case .bundle, .iCloud: []
            }
        self.least = least
    }

    /// Adds an entry that the walk came to, in its order.
    /// - Parameters:
    ///   - bytes: of the content; 0 for anything but a file.
    ///   - protection: nil for anything but a file, and where the class cannot be read.
    mutating func add(
        _ place: ContainerPlace, _ inclusion: BackupInclusion, bytes: Int64, protection: ProtectionClass?
    ) {
        while let last = levels.last, last.depth >= place.depth { fold() }
        // Below the top levels as the directory above.
        let isPurgeable =
            place.depth > 2
            ? levels.last?.part.look.isPurgeable ?? false
            : purgeable.contains { place.path.starts(with: $0.path) }
        let isDirectory = place.status.kind == .directory
        let look = SurveyedPart.Look(
            protection: protection, isBackedUp: inclusion == .included, isPurgeable: isPurgeable)
        let part = SurveyedPart(
            name: place.name, look: look, bytes: bytes, files: isDirectory ? 0 : 1, parts: isDirectory ? [] : nil)
        if isDirectory {
            levels.append(Level(depth: place.depth, part: part))
        } else {
            take(part)
        }
    }

    /// Ends the innermost directory: the walk has left it.
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
        // A small directory is dissolved into the small parts of the one above, look by look.
        if level.part.bytes < least, level.depth > 2 {
            for part in level.part.parts ?? [] { take(part) }
        } else {
            take(level.part)
        }
    }

    /// The container, once the walk has left it.
    private var root: SurveyedPart?

    /// Adds a finished part to the innermost directory.
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

    /// Ends the walk.
    /// - Returns: the container; nil where the walk came to nothing.
    mutating func finish() -> SurveyedPart? {
        while !levels.isEmpty { fold() }
        return root
    }
}

extension ContainerPlace {
    /// The class that a file's header names; nil where it cannot be read.
    var protection: ProtectionClass? {
        guard let parent, let name,
            let backing = try? parent.descriptor.open(name, flags: O_RDONLY | O_NONBLOCK)
        else { return nil }
        return EncryptedFile.protection(of: backing)
    }
}
