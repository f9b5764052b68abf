// Containers by UUID and kind.

import Platform
public import SandboxModel

/// The name of a container's directory: a random UUID, written as Apple writes them.
public struct ContainerUUID: Hashable, Sendable, CustomStringConvertible {
    /// 36 characters, upper case.
    public let text: String

    /// A new random UUID.
    public init() {
        text = Entropy.uuid()
    }

    /// - Returns: nil unless the text is a UUID in upper case.
    public init?(_ text: String) {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
        for byte in groups.joined() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): continue
            default: return nil
            }
        }
        self.text = text
    }

    public var description: String { text }
    public var fileName: FileName { FileName(text)! }
}

/// The kinds of containers. Each has a directory of its own in the device.
public enum ContainerKind: CaseIterable, Sendable {
    case bundle
    case data
    case group
    case iCloud

    /// The path of that directory, from the device directory.
    public var path: [FileName] {
        switch self {
        case .bundle: ["Containers", "Bundle", "Application"]
        case .data: ["Containers", "Data", "Application"]
        case .group: ["Containers", "Shared", "AppGroup"]
        case .iCloud: ["Containers", "Mobile Documents"]
        }
    }
}
