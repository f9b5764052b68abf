// A file that a page sends in parts.

import Platform
import SandboxModel
import Synchronization

/// A file that is being put together.
///
/// Lock: of its place, a leaf, held while it gets its name.
final class UploadedFile: Sendable {
    let name: FileName
    let descriptor: SharedDescriptor
    /// The directory in which it has its name; nil while it has none.
    private let directory: Mutex<String?>

    /// - Parameter place: the directory in which it has its name already.
    init(_ name: FileName, _ descriptor: consuming Descriptor, place: String? = nil) {
        self.name = name
        self.descriptor = SharedDescriptor(descriptor)
        directory = Mutex(place)
    }

    /// Gives the file its name, once.
    /// - Parameter make: makes a directory for it.
    /// - Returns: its path.
    func place(in make: () throws(SystemError) -> String) throws(SystemError) -> String {
        try directory.withLock { (directory) throws(SystemError) in
            if let directory { return path(in: directory) }
            let made = try make()
            directory = made
            try descriptor.descriptor.giveName(path(in: made))
            return path(in: made)
        }
    }

    /// Removes its name. The file goes with the last reference to this.
    func remove() {
        guard let directory = directory.withLock({ $0.take() }) else { return }
        try? HostPath.removeFile(path(in: directory))
        try? HostPath.removeDirectory(directory)
    }

    private func path(in directory: String) -> String { "\(directory)/\(name.text)" }
}
