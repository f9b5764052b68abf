// Bundles: archives of apps, Mach-O files and their signatures.

import BundleArchive
import Glibc
import Platform
import SandboxModel

@testable import BundleSeal

extension FuzzTarget {
    static let bundles = [
        FuzzTarget("app-archive") { input in
            let directory = try InputDirectory()
            let archive = try directory.add("app.ipa", input)
            try directory.descriptor.makeDirectory("app", mode: 0o700)
            let place = try directory.descriptor.openDirectory("app")
            var limits = AppArchive.Limits.standard
            (limits.bytes, limits.entries, limits.links) = (1 << 20, 256, 32)
            _ = try AppArchive.unpack(archive, into: place, limits: limits)
            try requireHarmless(place, bytes: limits.bytes, entries: limits.entries)
        },
        FuzzTarget("mach-o") { input in
            let file = try openFile(input)
            for signature in try MachOSignature.read(from: file) {
                for directory in signature.codeDirectories {
                    _ = signature.blobSlotsAgree(with: directory)
                    _ = try signature.firstChangedPage(of: directory, in: file) { _ in true }
                }
            }
        },
        FuzzTarget("code-directory") { input in
            let directory = try CodeDirectory(decoding: input)
            for slot in 0...directory.specialSlots { _ = directory.special(slot) }
            _ = directory.digest(of: input)
        },
        FuzzTarget("signature") { input in
            _ = try CMSSignature.verify(input, over: Array("content".utf8), trust: nil)
        },
        FuzzTarget("certificates") { input in
            _ = try TrustedCertificates(pem: input)
        },
        FuzzTarget("info-plist") { input in
            // Every file is of some type, whatever an app declares.
            if let types = DocumentTypes(decoding: input) {
                for isDirectory in [false, true] {
                    _ = types.accept("a.txt", isDirectory: isDirectory)
                    precondition(!types.names(of: "a.plan", isDirectory: isDirectory).isEmpty)
                }
            }
            _ = try BundleInformation(decoding: input, bundleName: "Notes.app")
        },
    ]

    /// Requires that a tree from an archive is within its limits, and that nothing in it gains a right.
    private static func requireHarmless(_ root: borrowing Descriptor, bytes: Int64, entries: Int) throws {
        var (left, found) = (bytes, 0)
        var directories = [SharedDescriptor(try root.duplicate())]
        while let directory = directories.popLast() {
            let reader = try directory.descriptor.entries()
            while let entry = try reader.next() {
                let status = try directory.descriptor.status(of: entry.name)
                found += 1
                switch status.kind {
                case .directory:
                    directories.append(SharedDescriptor(try directory.descriptor.openDirectory(entry.name)))
                case .file:
                    left -= status.size
                    require(status.raw.st_mode & 0o6000 == 0, "a file with a set-ID bit came out of an archive")
                    require(status.raw.st_nlink == 1, "a file with a second name came out of an archive")
                case .symbolicLink: break
                default: fatalError("an entry of another kind came out of an archive")
                }
            }
        }
        // Directories that have no entry of their own are counted too.
        require(left >= 0 && found <= entries, "more came out of an archive than the limits allow")
    }
}
