// The `.app` directory of the host that a user named by its path.

import Glibc
public import Platform
public import SandboxModel

/// An open `.app` directory. Its name is that of the directory, also where the path is a link to it.
public struct AppDirectory: Sendable {
    public let root: SharedDescriptor
    /// The directory's own name.
    public let name: FileName

    /// Opens the directory, and checks its name.
    /// - Throws: ``Complaint`` of kind `notFound` or `invalidApp`.
    public init(at path: String) throws(Complaint) {
        root = SharedDescriptor(try AppDirectory.open(path))
        let resolved = try Complaint.wrap("cannot open \(path)") { () throws(SystemError) in
            try ActingUser.reaching(path) { () throws(SystemError) in try HostPath.resolved(path) }
        }
        let last = resolved.split(separator: "/").last.map(String.init) ?? ""
        guard let name = FileName(last), AppDirectory.isAppName(name) else {
            throw Complaint(.invalidApp, "\(path) is not named like an app; the directory's name ends with .app")
        }
        self.name = name
    }

    /// Whether a directory's name ends with `.app` and has no control characters.
    public static func isAppName(_ name: FileName) -> Bool {
        name.text.hasSuffix(".app") && name.bytes.count > 4 && !name.bytes.contains { $0 < 0x20 || $0 == 0x7F }
    }

    private static func open(_ path: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try ActingUser.reaching(path) { () throws(SystemError) in
                try Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY)
            }
        } catch {
            switch error {
            case .noEntry where path.isEmpty:
                throw Complaint(.notFound, "an empty path names no app; name an app's directory")
            case .noEntry: throw Complaint(.notFound, "\(path) does not exist; name an app's directory")
            case .notDirectory: throw Complaint(.invalidApp, "\(path) is not a directory; an app is a .app directory")
            default: throw Complaint(error, doing: "cannot open \(path)")
            }
        }
    }
}
