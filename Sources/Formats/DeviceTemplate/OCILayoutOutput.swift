// Writing a template as an artifact in an OCI image layout, which tools for registries copy.

import Glibc
public import Platform
public import SandboxModel

/// The names in a layout.
enum OCIName {
    static let version: FileName = "oci-layout"
    static let index: FileName = "index.json"
    static let blobs: FileName = "blobs"
    static let algorithm: FileName = "sha256"
    /// Of a blob whose digest is not known yet.
    static let unfinished: FileName = "unfinished"
}

/// A new layout, which has its name only when it is whole. Its owner alone may read it: it has the device's keys.
public final class OCILayoutOutput {
    /// The file for the template, open for writing.
    public let layer: SharedDescriptor
    /// As the user gave it, for messages.
    private let path: String
    private let parent: Descriptor
    private let name: FileName
    private let temporaryName: FileName
    private let root: SharedDescriptor
    private let blobs: SharedDescriptor
    private var isPublished = false

    /// Makes the layout under a temporary name.
    /// - Throws: ``Complaint`` of kind `fileExists`, `notFound` or `badRequest`, or with the host's error.
    public init(_ path: String) throws(Complaint) {
        self.path = path
        let occupied = Complaint(.fileExists, "\(path) is there already; name a directory that is to be made")
        do throws(SystemError) {
            let absolute = HostPath.withoutTrailingSlashes(try HostPath.absolute(path))
            let place = try HostPath.newPlace(of: absolute)
            // The longest possible names cannot be extended.
            let random = Entropy.bytes(8).hexadecimal
            let temporary = FileName(".\(place.name.text).\(random)") ?? FileName(".appcontainer-\(random)")!
            let parent = try Descriptor.openDirectory(byOwnLinks: place.directory)
            guard try !parent.exists(place.name) else { throw .exists }
            (name, temporaryName) = (place.name, temporary)
            (root, blobs, layer) = try OCILayoutOutput.makeTree(temporary, in: parent)
            self.parent = parent
        } catch {
            if error == .exists || error == .isDirectory { throw occupied }
            throw Complaint(named: error, doing: "cannot write \(path)")
        }
    }

    private static func makeTree(
        _ name: FileName, in parent: borrowing Descriptor
    ) throws(SystemError) -> (root: SharedDescriptor, blobs: SharedDescriptor, layer: SharedDescriptor) {
        try parent.makeDirectory(name, mode: S_IRWXU)
        do throws(SystemError) {
            let root = try parent.openDirectory(name)
            try root.makeDirectory(OCIName.blobs, mode: S_IRWXU)
            try root.openDirectory(OCIName.blobs).makeDirectory(OCIName.algorithm, mode: S_IRWXU)
            let blobs = try root.openDirectory(at: [OCIName.blobs, OCIName.algorithm])
            let layer = try blobs.open(OCIName.unfinished, flags: O_RDWR | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR)
            return (SharedDescriptor(root), SharedDescriptor(blobs), SharedDescriptor(layer))
        } catch {
            _ = try? parent.removeTree(name)
            throw error
        }
    }

    deinit {
        if !isPublished { _ = try? parent.removeTree(temporaryName) }
    }

    /// Names the template's blob, writes the documents, and gives the layout its name, durably.
    /// - Returns: the SHA-256 of the manifest, by which registries know the artifact.
    public func finish(_ template: TemplateFile) throws(Complaint) -> [UInt8] {
        let config = Array("{}".utf8)
        let manifest = try OCIDocument.encode(
            OCIManifest(
                config: OCIDescriptor(OCIMediaType.config, of: config),
                layers: [OCIDescriptor(OCIMediaType.layer, digest: template.digest, size: template.size)]))
        let descriptor = OCIDescriptor(OCIMediaType.manifest, of: manifest)
        let documents: [(FileName, [UInt8])] = [
            (OCIName.index, try OCIDocument.encode(OCIIndex(manifests: [descriptor]))),
            (OCIName.version, try OCIDocument.encode(OCILayoutVersion())),
        ]
        do throws(SystemError) {
            try blobs.descriptor.rename(
                OCIName.unfinished, to: FileName(template.digest.hexadecimal)!, in: blobs.descriptor)
            for bytes in [config, manifest] {
                let name = OCIDescriptor(OCIMediaType.config, of: bytes).digest.split(separator: ":")[1]
                try OCILayoutOutput.write(bytes, FileName(String(name))!, in: blobs.descriptor)
            }
            for (name, bytes) in documents { try OCILayoutOutput.write(bytes, name, in: root.descriptor) }
            // All of it: the directories are open by their paths alone.
            try layer.descriptor.synchronizeFilesystem()
            try parent.rename(temporaryName, to: name, in: parent, mode: .keeping)
            isPublished = true
            try parent.synchronizeEntries()
        } catch {
            guard error != .exists else {
                throw Complaint(.fileExists, "\(path) is there now; name a directory that is to be made")
            }
            throw Complaint(error, doing: "cannot write \(path)")
        }
        return descriptor.bytes ?? []
    }

    private static func write(
        _ bytes: [UInt8], _ name: FileName, in directory: borrowing Descriptor
    ) throws(SystemError) {
        try directory.open(name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: S_IRUSR | S_IWUSR).append(bytes)
    }
}
