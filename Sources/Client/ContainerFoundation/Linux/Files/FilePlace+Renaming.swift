// Moves that overwrite nothing.

import Platform
import SandboxModel

extension FilePlace {
    /// Moves what is here to where nothing is.
    ///
    /// - Throws: EEXIST where something is.
    func move(to other: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            return try directory.rename(name, to: other.name, in: other.directory, mode: .keeping)
        } catch {
            guard error.meansNoFlags, try other.statusIfThere() == nil else { throw error }
        }
        // A filesystem that cannot tell by itself.
        try directory.rename(name, to: other.name, in: other.directory)
    }

    /// Exchanges what is here with what is there.
    func swap(with other: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            return try directory.rename(name, to: other.name, in: other.directory, mode: .exchanging)
        } catch {
            guard error.meansNoFlags else { throw error }
        }
        try swapInTurn(with: other)
    }

    /// For a filesystem that knows no exchange: for a moment nothing is there, but nothing is lost.
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
    /// What a filesystem says to a flag of renameat2(2) that it does not know.
    fileprivate var meansNoFlags: Bool { self == .invalid || self == .notSupported }
}
