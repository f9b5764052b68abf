// The directory in which files that were dropped on the page wait for their delivery.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel
import Synchronization

/// A directory of this user alone, made with the first file that has a name. It is locked for as long as this process
/// lives: one that a killed process has left has no lock, and the next server removes it.
///
/// Lock: of the directory, a leaf, held while it is made.
final class UploadDirectory: Sendable {
    private struct Made {
        let path: String
        let lock: SharedDescriptor
    }

    private let base: String
    private let hasUnnamed: Bool
    private let made = Mutex<Made?>(nil)
    private static let prefix = "appcontainer-page-"
    /// Another server may take one for abandoned between its making and its lock. Only bad luck has it do so twice.
    private static let attempts = 5

    /// - Parameters:
    ///   - base: the directory for temporary files, as others may use too.
    ///   - hasUnnamed: false for a filesystem that has no files without names.
    init(in base: String = FileManager.default.temporaryDirectory.path, hasUnnamed: Bool = true) {
        self.base = HostPath.withoutTrailingSlashes(base)
        self.hasUnnamed = hasUnnamed
    }

    /// Makes a file. It has no name until it is complete, where the filesystem allows that: the kernel removes it then
    /// with this process.
    func makeFile(_ name: FileName) throws(Complaint) -> UploadedFile {
        try Complaint.wrap("cannot keep \(name.text) for its delivery") { () throws(SystemError) in
            if hasUnnamed {
                do throws(SystemError) {
                    return UploadedFile(name, try Descriptor.unnamedFile(in: base))
                } catch {
                    guard error == .notSupported || error == .isDirectory else { throw error }
                }
            }
            let place = try makePlace()
            return UploadedFile(
                name,
                try Descriptor.open(
                    path: "\(place)/\(name.text)", flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600),
                place: place)
        }
    }

    /// Gives a complete file its name, in a directory of its own: the device delivers it under the name that it has.
    /// - Returns: its path.
    func place(_ file: UploadedFile) throws(Complaint) -> String {
        try Complaint.wrap("cannot deliver \(file.name.text)") { () throws(SystemError) in
            try file.place { () throws(SystemError) in try makePlace() }
        }
    }

    private func makePlace() throws(SystemError) -> String {
        let place = "\(try path())/\(Entropy.uuid())"
        try HostPath.makeDirectory(place, mode: 0o700)
        return place
    }

    /// Removes the directory, which is empty by then.
    func remove() {
        if let made = made.withLock({ $0.take() }) { try? HostPath.removeDirectory(made.path) }
    }

    /// Removes what killed servers of this user have left. Follows no link: others may write beside it.
    func removeAbandoned() {
        guard let root = try? Descriptor.open(path: base, flags: O_RDONLY | O_DIRECTORY) else { return }
        var names: [FileName] = []
        if let entries = try? root.entries() {
            while let entry = try? entries.next() {
                if entry.name.text.hasPrefix(UploadDirectory.prefix) { names.append(entry.name) }
            }
        }
        for name in names {
            guard let directory = try? root.open(name, flags: O_RDONLY | O_DIRECTORY | O_NONBLOCK),
                (try? directory.status())?.owner == geteuid(), (try? directory.tryLock()) == true
            else { continue }
            _ = try? root.removeTree(name)
        }
    }

    private func path() throws(SystemError) -> String {
        try made.withLock { (made) throws(SystemError) in
            if let made { return made.path }
            let new = try make()
            made = new
            return new.path
        }
    }

    private func make() throws(SystemError) -> Made {
        for _ in 0..<UploadDirectory.attempts {
            let path = "\(base)/\(UploadDirectory.prefix)\(Entropy.uuid())"
            // It fails for one that is there, whoever made it.
            try HostPath.makeDirectory(path, mode: 0o700)
            guard let lock = try? Descriptor.open(path: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
                try lock.tryLock(),
                (try? HostPath.status(path, following: false))?.identity == (try lock.status()).identity
            else { continue }
            return Made(path: path, lock: SharedDescriptor(lock))
        }
        throw .busy
    }
}
