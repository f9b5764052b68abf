// The directory in which files that were dropped on the page wait for their delivery.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel
import Synchronization

/// A directory of this user alone, made with the first file.
///
/// Lock: of the path, a leaf, held while the directory is made.
final class UploadDirectory: Sendable {
    private let made = Mutex<String?>(nil)

    /// Makes a file in a directory of its own, because the device delivers a file under the name that it has.
    func makeFile(_ name: FileName) throws(Complaint) -> UploadedFile {
        try Complaint.wrap("cannot keep \(name.text) for its delivery") { () throws(SystemError) in
            let directory = "\(try path())/\(Entropy.uuid())"
            try HostPath.makeDirectory(directory, mode: 0o700)
            return UploadedFile(
                name: name, directory: directory,
                descriptor: SharedDescriptor(
                    try Descriptor.open(
                        path: "\(directory)/\(name.text)", flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
                ))
        }
    }

    private func path() throws(SystemError) -> String {
        try made.withLock { (made) throws(SystemError) in
            if let made { return made }
            let base = HostPath.withoutTrailingSlashes(FileManager.default.temporaryDirectory.path)
            let path = "\(base)/appcontainer-page-\(Entropy.uuid())"
            // It fails for one that is there, whoever made it.
            try HostPath.makeDirectory(path, mode: 0o700)
            made = path
            return path
        }
    }

    /// Removes the directory, which is empty by then.
    func remove() {
        if let path = made.withLock({ $0.take() }) { try? HostPath.removeDirectory(path) }
    }
}

/// A file that is being put together.
struct UploadedFile: Sendable {
    let name: FileName
    fileprivate let directory: String
    let descriptor: SharedDescriptor

    var path: String { "\(directory)/\(name.text)" }

    func remove() {
        try? HostPath.removeFile(path)
        try? HostPath.removeDirectory(directory)
    }
}
