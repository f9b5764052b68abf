// Copying as iOS copies: with class, attributes, mode and times. Foundation on Linux leaves most of them behind.

import Foundation
import Glibc
import Platform
import SandboxModel

enum ItemCopy {
    /// Copies a file, a link, or a directory with all that is in it.
    ///
    /// - Parameters:
    ///   - source: a path; a link is copied, and not what it leads to.
    ///   - target: a path on a mount, where nothing may be.
    static func copy(_ source: String, to target: String) throws(CocoaError) {
        let from = try onItem(source) { () throws(SystemError) in try FilePlace(try HostPath.absolute(source)) }
        let to = try onItem(target) { () throws(SystemError) in try FilePlace(target) }
        let isInside = try onItem(source) { () throws(SystemError) in try to.isInside(from) }
        if isInside { throw CocoaError(.invalid, path: target) }
        try copyNode(from, to: to)
    }

    /// From here on names are bytes, as POSIX has them: not all that are in a directory need be text.
    private static func copyNode(_ source: FilePlace, to target: FilePlace) throws(CocoaError) {
        let status = try onItem(source.path) { () throws(SystemError) in try source.status() }
        switch status.kind {
        case .file:
            try onItem(target.path) { () throws(SystemError) in try copyFile(source, status, to: target) }
        case .directory: try copyDirectory(source, status, to: target)
        case .symbolicLink:
            try onItem(target.path) { () throws(SystemError) in
                try target.directory.makeSymbolicLink(
                    target.name, target: try source.directory.symbolicLinkTarget(source.name))
            }
        // Foundation copies none of these either.
        case .fifo, .socket, .device: throw CocoaError(.notSupported, path: source.path)
        }
    }

    private static func copyFile(
        _ source: FilePlace, _ status: FileStatus, to target: FilePlace
    ) throws(SystemError) {
        let original = try source.directory.open(source.name, flags: O_RDONLY)
        let copy = try target.makeFile(
            protection: source.attributes.mountedProtection, mode: FilePlace.ownersOnly)
        do throws(SystemError) {
            _ = try copy.copyContent(of: original) { _ in true }
            carryAttributes(from: AttributeHolder(file: original), to: AttributeHolder(file: copy))
            try copy.changeMode(status.permissions)
            try copy.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        } catch {
            try? target.directory.removeFile(target.name)
            throw error
        }
    }

    private static func copyDirectory(
        _ source: FilePlace, _ status: FileStatus, to target: FilePlace
    ) throws(CocoaError) {
        let names = try onItem(source.path) { () throws(SystemError) -> [FileName] in try ItemCopy.names(in: source) }
        try onItem(target.path) { () throws(SystemError) in
            try target.directory.makeDirectory(target.name, mode: S_IRWXU)
            if let protection = source.attributes.mountedProtection {
                try target.attributes.setProtection(protection)
            }
        }
        for name in names {
            let (entry, copy) = try onItem(target.path) { () throws(SystemError) in
                (try FilePlace(name, in: source), try FilePlace(name, in: target))
            }
            try copyNode(entry, to: copy)
        }
        carryAttributes(from: source.attributes, to: target.attributes)
        try onItem(target.path) { () throws(SystemError) in
            try target.directory.changeMode(of: target.name, to: status.permissions)
            try target.directory.changeTimes(
                of: target.name, access: status.raw.st_atim, modification: status.modificationTime)
        }
    }

    private static func names(in place: FilePlace) throws(SystemError) -> [FileName] {
        let entries = DirectoryReader(try place.directory.open(place.name, flags: O_RDONLY | O_DIRECTORY))
        var names: [FileName] = []
        while let entry = try entries.next() { names.append(entry.name) }
        return names
    }

    /// All that are listed but the class, which the copy has already. One that the target does not take stays behind.
    static func carryAttributes(
        from original: AttributeHolder, to copy: AttributeHolder, where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) {
        let protection = Array(ProtectionClass.attributeName.utf8)
        for name in (try? original.names()) ?? [] where name != protection && isWanted(name) {
            guard let value = try? original.value(of: name) else { continue }
            try? copy.set(name, to: value)
        }
    }
}
