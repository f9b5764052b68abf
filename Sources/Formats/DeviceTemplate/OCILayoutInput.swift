// Finding the template in an OCI image layout. Each document is verified by the digest that leads to it.

import Glibc
import HashFunctions
public import Platform
public import SandboxModel
public import TarFormat

/// A layout that holds one template.
public struct OCILayoutInput {
    /// The template's file, at its beginning. Its bytes are to be verified by ``digest``.
    public let layer: SharedDescriptor
    /// The SHA-256 that the template has to have.
    public let digest: [UInt8]
    /// The SHA-256 of the manifest, by which registries know the artifact.
    public let manifest: [UInt8]

    /// - Parameter directory: of the layout.
    /// - Throws: ``Complaint`` of kind `invalidTemplate`, or with the host's error.
    public init(_ directory: borrowing Descriptor, from origin: ArchiveOrigin) throws(Complaint) {
        func flaw(_ words: String) -> Complaint { origin.complaint(ArchiveFlaw(words)) }
        guard let index = try OCILayoutInput.read(OCIName.index, in: directory, from: origin),
            let list = OCIDocument.decode(OCIIndex.self, from: index)
        else { throw flaw("is no OCI image layout: it has no index.json that can be read") }
        guard list.manifests.count == 1, let reference = list.manifests.first else {
            throw flaw("has \(list.manifests.count) manifests in its index.json, and a template's layout has one")
        }
        let blobs: Descriptor
        do throws(SystemError) {
            blobs = try directory.openDirectory(at: [OCIName.blobs, OCIName.algorithm])
        } catch {
            throw flaw("is no OCI image layout: it has no blobs/sha256")
        }
        let bytes = try OCILayoutInput.blob(reference, in: blobs, from: origin)
        guard let manifest = OCIDocument.decode(OCIManifest.self, from: bytes),
            manifest.config.mediaType == OCIMediaType.config, manifest.layers.count == 1,
            let layer = manifest.layers.first, layer.mediaType == OCIMediaType.layer
        else {
            throw flaw("has no template of a device; name a layout that `appcontainer export --oci` wrote")
        }
        guard let digest = layer.bytes, let name = FileName(digest.hexadecimal), let own = reference.bytes else {
            throw flaw("names its template by something else than a SHA-256")
        }
        let file = try OCILayoutInput.open(name, in: blobs, from: origin)
        let size = try Complaint.wrap("cannot read \(origin.name)") { () throws(SystemError) in try file.status().size }
        guard size == layer.size else { throw origin.complaint(.cutShort) }
        self.layer = SharedDescriptor(file)
        (self.digest, self.manifest) = (digest, own)
    }

    /// A document that a descriptor leads to, verified.
    private static func blob(
        _ reference: OCIDescriptor, in blobs: borrowing Descriptor, from origin: ArchiveOrigin
    ) throws(Complaint) -> [UInt8] {
        guard let digest = reference.bytes, let name = FileName(digest.hexadecimal) else {
            throw origin.complaint(ArchiveFlaw("names its manifest by something else than a SHA-256"))
        }
        guard let bytes = try read(name, in: blobs, from: origin), Int64(bytes.count) == reference.size,
            HashFunction.sha256.digest(of: bytes) == digest
        else {
            throw origin.complaint(ArchiveFlaw("was altered: its manifest has another digest; use another copy of it"))
        }
        return bytes
    }

    private static func read(
        _ name: FileName, in directory: borrowing Descriptor, from origin: ArchiveOrigin
    ) throws(Complaint) -> [UInt8]? {
        guard try Complaint.wrap("cannot read \(origin.name)", { () throws(SystemError) in try directory.exists(name) })
        else { return nil }
        let file = try open(name, in: directory, from: origin)
        do throws(SystemError) {
            return try file.readToEnd(limit: OCIDocument.longest)
        } catch {
            guard error != .fileTooLarge else { return nil }
            throw Complaint(error, doing: "cannot read \(origin.name)")
        }
    }

    /// Opens a regular file of the layout. No link is followed, and no fifo is waited for.
    private static func open(
        _ name: FileName, in directory: borrowing Descriptor, from origin: ArchiveOrigin
    ) throws(Complaint) -> Descriptor {
        let missing = origin.complaint(ArchiveFlaw("lacks a regular file that its index leads to: \(name.text)"))
        do throws(SystemError) {
            let file = try directory.open(name, flags: O_RDONLY | O_NONBLOCK)
            guard try file.status().kind == .file else { throw .noEntry }
            return file
        } catch {
            switch error.code {
            case ENOENT, ELOOP, ENXIO: throw missing
            default: throw Complaint(error, doing: "cannot read \(origin.name)")
            }
        }
    }
}
