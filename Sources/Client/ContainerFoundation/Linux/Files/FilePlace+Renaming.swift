// Renames that overwrite nothing.

import Platform
import SandboxModel

extension FilePlace {
    /// Moves the item to a place that must be free.
    ///
    /// - Throws: EEXIST if it is not.
    func move(to other: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            return try directory.rename(name, to: other.name, in: other.directory, mode: .keeping)
        } catch {
            guard error.meansNoFlags, try other.statusIfThere() == nil else { throw error }
        }
        // A filesystem without RENAME_NOREPLACE.
        try directory.rename(name, to: other.name, in: other.directory)
    }

    /// Exchanges the items of two places.
    func swap(with other: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            return try directory.rename(name, to: other.name, in: other.directory, mode: .exchanging)
        } catch {
            guard error.meansNoFlags else { throw error }
        }
        try swapInTurn(with: other)
    }

    /// Exchanges by three renames, for a filesystem without RENAME_EXCHANGE. For a moment one place is empty; nothing
    /// is lost.
    func swapInTurn(with other: FilePlace) throws(SystemError) {
        let passing = try FilePlace(.passing, beside: other)
        try other.directory.rename(other.name, to: passing.name, in: passing.directory)
        do throws(SystemError) {
            try directory.rename(name, to: other.name, in: other.directory)
            do throws(SystemError) {
                try passing.directory.rename(passing.name, to: name, in: directory)
            } catch {
                try other.directory.rename(other.name, to: name, in: directory)
                throw error
            }
        } catch {
            try passing.directory.rename(passing.name, to: other.name, in: other.directory)
            throw error
        }
    }
}

extension SystemError {
    /// The errors of filesystems that do not know a flag of renameat2(2).
    fileprivate var meansNoFlags: Bool { self == .invalid || self == .notSupported }
}
