// Whether an app may write to an item: access(2) answers from mode bits and knows nothing of the sandbox.

public import Foundation
import Platform
import SandboxModel

extension FileManager {
    /// Whether the app may write to a file, or make entries in a directory: false in the bundle, in the Inbox and at
    /// the home's top level, whatever the mode bits say.
    ///
    /// - Parameter path: links are followed.
    public func isWritableFile(atPath path: String) -> Bool {
        self.Foundation::isWritableFile(atPath: path) && !Home.isClosedToWriting(path)
    }
}

extension Home {
    /// Whether the sandbox refuses every writing to an item that exists.
    static func isClosedToWriting(_ path: String) -> Bool {
        guard let home = Home(around: path), let place = try? HostPath.resolved(HostPath.absolute(path)) else {
            return false
        }
        guard let rest = HostPath.rest(of: place, in: home.path) else { return false }
        guard !rest.isEmpty else { return !home.showsDocumentsAlone }
        let names = HostPath.names(of: rest)
        let documents = home.showsDocumentsAlone ? names : Array(names.dropFirst())
        guard home.showsDocumentsAlone || names[0] == HomeLayout.documents.text else {
            switch names[0] {
            case HomeLayout.library.text, HomeLayout.temporary.text: return false
            case HomeLayout.groups.text, HomeLayout.iCloud.text: return names.count == 1
            // The bundle and the metadata.
            default: return true
            }
        }
        return documents.first == HomeLayout.inbox.text
    }

    /// A mount made with `--documents`: its root gives a class, which no home's root does.
    var showsDocumentsAlone: Bool {
        (try? AttributeHolder(path: path, following: true).protection()) != nil
    }
}
