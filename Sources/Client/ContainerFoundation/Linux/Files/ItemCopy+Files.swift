// Copies files and symbolic links.

import Foundation
import Glibc
import Platform
import SandboxModel

extension ItemCopy {
    func copyNode(
        _ name: FileName, _ status: FileStatus, from source: SharedDescriptor, to target: SharedDescriptor,
        as copyName: FileName
    ) throws(CocoaError) {
        switch status.kind {
        case .file:
            try onItem(targetPath(name)) { () throws(SystemError) in
                try copyFile(name, status, from: source, to: target, as: copyName)
            }
        case .symbolicLink:
            try onItem(targetPath(name)) { () throws(SystemError) in
                try target.descriptor.makeSymbolicLink(
                    copyName, target: try source.descriptor.symbolicLinkTarget(name))
            }
        case .directory: preconditionFailure("directories are entered")
        // Foundation does not copy these either.
        case .fifo, .socket, .device: throw CocoaError(.notSupported, path: sourcePath(name))
        }
    }

    private func copyFile(
        _ name: FileName, _ status: FileStatus, from source: SharedDescriptor, to target: SharedDescriptor,
        as copyName: FileName
    ) throws(SystemError) {
        let extent = isAtTop ? extent : Extent()
        let original = try source.descriptor.open(name, flags: O_RDONLY)
        let copy = try target.descriptor.makeFile(
            copyName, protection: AttributeHolder(name, in: source.descriptor).mountedProtection,
            mode: Descriptor.ownersOnly)
        do throws(SystemError) {
            _ = try copy.copyContent(of: original) { _ in true }
            if extent.hasAttributes {
                ItemCopy.carryAttributes(from: AttributeHolder(file: original), to: AttributeHolder(file: copy))
            }
            try copy.changeMode(status.permissions & extent.mode)
            try copy.changeTimes(access: status.raw.st_atim, modification: status.modificationTime)
        } catch {
            try? target.descriptor.removeFile(copyName)
            throw error
        }
    }

    /// Copies all listed attributes but the class, which the copy has already. Those that the target refuses are left
    /// out.
    static func carryAttributes(from original: AttributeHolder, to copy: AttributeHolder) {
        let protection = Array(ProtectionClass.attributeName.utf8)
        for name in (try? original.names()) ?? [] where name != protection {
            guard let value = try? original.value(of: name) else { continue }
            try? copy.set(name, to: value)
        }
    }
}
