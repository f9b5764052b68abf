// The `.app` directory of the host that a user named by its path, and the names of apps and their extensions.

import Glibc
public import Platform
public import SandboxModel

/// An open `.app` directory, or the `.appex` of an extension. Its name is that of the directory, also where the path is
/// a link to it.
public struct AppDirectory: Sendable {
    public let root: SharedDescriptor
    /// The directory's own name.
    public let name: FileName

    /// Opens the directory, and checks its name. The superuser's process follows root's links only: it seals no other
    /// app than the one that was meant.
    /// - Parameter takesExtension: whether the bundle of an app extension may stand for an app's.
    /// - Throws: ``Complaint`` of kind `notFound`, `foreignOwner` or `invalidApp`.
    public init(at path: String, takesExtension: Bool = false) throws(Complaint) {
        let root = SharedDescriptor(try AppDirectory.open(path))
        let opened = try Complaint.wrap("cannot open \(path)") { () throws(SystemError) in
            try HostPath.symbolicLinkTarget("/proc/self/fd/\(root.descriptor.number)")
        }
        let last = HostPath.names(of: opened).last ?? ""
        guard let name = FileName(last),
            AppDirectory.isAppName(name) || takesExtension && AppDirectory.isExtensionName(name)
        else {
            guard !last.hasSuffix(AppDirectory.extensionSuffix) else {
                throw Complaint(.invalidApp, "\(path) is an app extension; name the app that it lies in")
            }
            throw Complaint(.invalidApp, "\(path) is not named like an app; the directory's name ends with .app")
        }
        self.root = root
        self.name = name
    }

    private static let appSuffix = ".app"
    private static let extensionSuffix = ".appex"

    /// Whether a directory's name ends with `.app` and has no control characters.
    public static func isAppName(_ name: FileName) -> Bool { isName(name, with: appSuffix) }

    /// Whether a directory's name ends with `.appex` and has no control characters.
    public static func isExtensionName(_ name: FileName) -> Bool { isName(name, with: extensionSuffix) }

    private static func isName(_ name: FileName, with suffix: String) -> Bool {
        name.text.hasSuffix(suffix) && name.bytes.count > suffix.utf8.count
            && !name.bytes.contains { $0 < 0x20 || $0 == 0x7F }
    }

    private static func open(_ path: String) throws(Complaint) -> Descriptor {
        do throws(SystemError) {
            return try ActingUser.reaching(path) { () throws(SystemError) in
                try Descriptor.openDirectory(byOwnLinks: path.isEmpty ? "" : HostPath.absolute(path))
            }
        } catch {
            switch error {
            case .noEntry where path.isEmpty:
                throw Complaint(.notFound, "an empty path names no app; name an app's directory")
            case .noEntry: throw Complaint(.notFound, "\(path) does not exist; name an app's directory")
            case .notDirectory: throw Complaint(.invalidApp, "\(path) is not a directory; an app is a .app directory")
            case .accessDenied where ActingUser.starter == 0 && !ActingUser.isActing:
                throw Complaint(
                    .foreignOwner, "a link of another user is on the way to \(path); name the directory that is meant")
            default: throw Complaint(named: error, doing: "cannot open \(path)")
            }
        }
    }
}
