// A file with a random name that goes when nobody needs it any more.

import Glibc
import Platform
import SandboxModel

/// Open for reading and writing by this user alone. SQLite wants a name; once it has opened the file it needs none.
final class TemporaryFile {
    let path: String
    let descriptor: Descriptor
    private var isNamed = true

    /// On a disk and not in memory: a phone's Manifest.db has some hundred megabytes.
    static let directory = "/var/tmp"

    init(in directory: String = TemporaryFile.directory) throws(SystemError) {
        path = directory + "/.appcontainer-" + Entropy.bytes(8).hexadecimal
        descriptor = try Descriptor.open(path: path, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    }

    /// Takes the name away; the content goes with the last who has it open.
    func removeName() {
        guard isNamed else { return }
        isNamed = false
        try? HostPath.removeFile(path)
    }

    deinit {
        removeName()
    }
}
