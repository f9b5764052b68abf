// Files that have their class before their first byte.

import Glibc
import Platform
import SandboxModel

extension Descriptor {
    private static let newFile = O_RDWR | O_CREAT | O_EXCL
    /// For a file that gets the mode of another when it is complete.
    static let ownersOnly = S_IRUSR | S_IWUSR

    /// Makes an empty file in the directory that this descriptor names, which is on a mount where a class is asked for.
    ///
    /// - Parameters:
    ///   - protection: its class; nil leaves it to the directory.
    ///   - mode: as open(2) takes it, so less the process's mask.
    /// - Throws: EEXIST where the name is taken; EPERM where the device is locked for the class. Nothing is left behind.
    borrowing func makeFile(
        _ name: FileName, protection: ProtectionClass?, mode: mode_t = 0o666
    ) throws(SystemError) -> Descriptor {
        guard let protection, try AttributeHolder(self).protection() != protection else {
            return try open(name, flags: Descriptor.newFile, mode: mode)
        }
        do throws(SystemError) {
            let file = try open(name, flags: Descriptor.newFile, mode: mode)
            do throws(SystemError) {
                try AttributeHolder(file: file).setProtection(protection)
            } catch {
                try? removeFile(name)
                throw error
            }
            return file
        } catch {
            // On a locked device a file could perhaps be made of the class, and none of the one that the directory gives.
            guard error == .notPermitted, protection != .complete else { throw error }
            return try makeFileApart(name, protection: protection, mode: mode)
        }
    }

    /// A directory of any class can be made at any time, and what is made in it has the class from the beginning.
    private borrowing func makeFileApart(
        _ name: FileName, protection: ProtectionClass, mode: mode_t
    ) throws(SystemError) -> Descriptor {
        let apart = FileName.passing
        try makeDirectory(apart, mode: S_IRWXU)
        defer { try? removeDirectory(apart) }
        let passage = try openDirectory(apart)
        try AttributeHolder(passage).setProtection(protection)
        let file = try passage.open(name, flags: Descriptor.newFile, mode: mode)
        do throws(SystemError) {
            try passage.rename(name, to: name, in: self, mode: .keeping)
        } catch {
            try? passage.removeFile(name)
            throw error
        }
        return file
    }
}

extension FileName {
    /// A name for the time of a save, by the pattern that Foundation's own have: whoever knows those knows these.
    static var passing: FileName {
        FileName(".dat.nosync\(String(getpid(), radix: 16, uppercase: true)).\(Entropy.bytes(4).hexadecimal)")!
    }
}
