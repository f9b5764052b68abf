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
        let parent = HostPath.place(of: target)?.directory ?? target
        let isInside = try onItem(source) { () throws(SystemError) in
            guard try HostPath.status(source, following: false).kind == .directory else { return false }
            return try HostPath.holds(source, parent)
        }
        if isInside { throw CocoaError(.invalid, path: target) }
        try copyNode(source, to: target)
    }

    private static func copyNode(_ source: String, to target: String) throws(CocoaError) {
        let status = try onItem(source) { () throws(SystemError) in try HostPath.status(source, following: false) }
        let protection = try? MountedItem(source, following: false)?.protection()
        switch status.kind {
        case .file:
            try onItem(target) { () throws(SystemError) in
                try copyFile(source, status, protection: protection, to: try FilePlace(target))
            }
        case .directory: try copyDirectory(source, status, protection: protection, to: target)
        case .symbolicLink:
            try onItem(target) { () throws(SystemError) in
                let place = try FilePlace(target)
                try place.directory.makeSymbolicLink(
                    place.name, target: Array(try HostPath.symbolicLinkTarget(source).utf8))
            }
        // Foundation copies none of these either.
        case .fifo, .socket, .device: throw CocoaError(.notSupported, path: source)
        }
    }

    private static func copyFile(
        _ source: String, _ status: FileStatus, protection: ProtectionClass?, to place: FilePlace
    ) throws(SystemError) {
        let original = try Descriptor.open(path: source, flags: O_RDONLY | O_NOFOLLOW)
        let copy = try place.makeFile(protection: protection)
        do throws(SystemError) {
            _ = try copy.copyContent(of: original) { _ in true }
            carryAttributes(from: AttributeHolder(file: original), to: AttributeHolder(file: copy))
            try copy.changeMode(status.permissions)
            try copy.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        } catch {
            try? place.directory.removeFile(place.name)
            throw error
        }
    }

    private static func copyDirectory(
        _ source: String, _ status: FileStatus, protection: ProtectionClass?, to target: String
    ) throws(CocoaError) {
        var names: [FileName] = []
        try onItem(source) { () throws(SystemError) in
            let entries = DirectoryReader(try Descriptor.open(path: source, flags: O_RDONLY | O_DIRECTORY))
            while let entry = try entries.next() { names.append(entry.name) }
        }
        let copy = AttributeHolder(path: target, following: false)
        try onItem(target) { () throws(SystemError) in
            try HostPath.makeDirectory(target, mode: S_IRWXU)
            if let protection { try copy.setProtection(protection) }
        }
        for name in names { try copyNode("\(source)/\(name.text)", to: "\(target)/\(name.text)") }
        carryAttributes(from: AttributeHolder(path: source, following: false), to: copy)
        try onItem(target) { () throws(SystemError) in
            let directory = try Descriptor.openNode(path: target)
            try directory.changeModeOfNamed(status.permissions)
            try directory.changeTimesOfNamed(access: status.raw.st_atim, modification: status.modificationTime)
        }
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
