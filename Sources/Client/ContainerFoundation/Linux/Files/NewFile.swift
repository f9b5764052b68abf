// New files that have their protection class before their first byte.

import Glibc
import Platform
import SandboxModel

extension Descriptor {
    private static let newFile = O_RDWR | O_CREAT | O_EXCL
    /// The mode of a file until it gets that of the file that it replaces.
    static let ownersOnly = S_IRUSR | S_IWUSR

    /// Creates an empty file in this directory, which must be on a mount if `protection` is not nil.
    ///
    /// - Parameters:
    ///   - protection: the class; nil for that of the directory.
    ///   - mode: as for open(2), subject to the umask.
    /// - Throws: EEXIST if the name is taken; EPERM if the device is locked for the class. Leaves no file behind then.
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
            // A locked device may allow files of `protection` and refuse those of the class that the directory gives.
            guard error == .notPermitted, protection != .complete else { throw error }
            return try makeFileApart(name, protection: protection, mode: mode)
        }
    }

    /// Creates the file in a new directory that has the class, which is possible at any time, and moves it out.
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
    /// A temporary name in Foundation's pattern, so that tools that skip Foundation's temporary files skip ours.
    static var passing: FileName {
        FileName(".dat.nosync\(String(getpid(), radix: 16, uppercase: true)).\(Entropy.bytes(4).hexadecimal)")!
    }
}
