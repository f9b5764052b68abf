// An encrypted file that the system puts into a container, outside of any mount.

import BackingStore
import Glibc
import Platform
import SandboxModel

/// The name and attributes of a file that is to be made.
struct NewFile {
    let name: FileName
    /// The permissions, whatever the umask is.
    let mode: mode_t
    let owner: ContainerOwner
    let protection: ProtectionClass

    init(_ name: FileName, mode: mode_t, owner: ContainerOwner, protection: ProtectionClass) {
        self.name = name
        self.mode = mode
        self.owner = owner
        self.protection = protection
    }

    /// Makes the file, and commits the content that `body` writes. The caller makes its name durable.
    /// - Throws: a fault of kind `exists` where the name is taken; `refused` where the class has no key now.
    func write(
        in directory: borrowing Descriptor, context: StoreContext, _ body: (EncryptedFile) throws(Fault) -> Void
    ) throws(Fault) {
        let file = try onHost { () throws(SystemError) in
            SharedDescriptor(
                try directory.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR))
        }
        let content = try EncryptedFile.create(file, protection: protection, context: context).file
        try body(content)
        try content.commit()
        try onHost { () throws(SystemError) in
            try directory.give(name, to: owner)
            try file.descriptor.changeMode(mode)
        }
    }
}
