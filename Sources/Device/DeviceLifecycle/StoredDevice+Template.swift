// Templates: a device in one file, which travels to other hosts.

public import BackingStore
import DeviceTemplate
public import Platform
public import SandboxModel
import TarFormat

extension StoredDevice {
    /// The place that a template is written to.
    public enum TemplateOutput: Sendable {
        /// A file that is to be made.
        case file(String)
        /// A directory that is to be made, in the OCI image layout.
        case layout(String)
        /// An open pipe or file.
        case stream(SharedDescriptor, name: String)
    }

    /// A template that was written.
    public struct Template: Sendable {
        /// The SHA-256 that names it: of the file, or of the manifest in a layout.
        public let digest: [UInt8]
        /// Bytes of the template's file.
        public let size: Int64
    }

    /// Writes a device into a template, which has its name only when it is whole. Of several exports and copies at once
    /// each waits for its turn.
    /// - Throws: ``Complaint`` of kind `deviceBusy` when the device is not shut down, `fileExists`, `damaged`,
    ///   `noSpace`.
    public static func export(
        _ path: String, to output: TemplateOutput, progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) -> Template {
        try inTurn(path) { (directory, lock) throws(Complaint) in
            switch output {
            case .stream(let stream, let name):
                let file = try directory.export(to: stream, named: name, holding: lock, progress: progress)
                return Template(digest: file.digest, size: file.size)
            case .layout(let name):
                let layout = try OCILayoutOutput(name)
                let file = try directory.export(to: layout.layer, named: name, holding: lock, progress: progress)
                return Template(digest: try layout.finish(file), size: file.size)
            case .file(let name):
                let file = try NewFile(name)
                let template = try directory.export(
                    to: file.unfinished.file, named: name, holding: lock, progress: progress)
                try file.publish()
                return Template(digest: template.digest, size: template.size)
            }
        }
    }

    /// A file that is to be made, and has a random name until it is whole.
    private struct NewFile {
        let unfinished: UnfinishedFile
        private let path: String
        private let name: FileName

        init(_ path: String) throws(Complaint) {
            self.path = path
            do throws(SystemError) {
                let absolute = try HostPath.absolute(path)
                let place = try HostPath.newPlace(of: absolute)
                // Now, and not behind gigabytes.
                let directory = try Descriptor.openDirectory(byOwnLinks: place.directory)
                guard try !directory.exists(place.name) else { throw .exists }
                // The template has the keys of the device.
                unfinished = try UnfinishedFile(in: place.directory)
                name = place.name
            } catch {
                throw NewFile.complaint(error, path)
            }
        }

        func publish() throws(Complaint) {
            do throws(SystemError) {
                try unfinished.rename(to: name, mode: .keeping)
            } catch {
                throw NewFile.complaint(error, path)
            }
        }

        private static func complaint(_ error: SystemError, _ path: String) -> Complaint {
            error == .exists
                ? Complaint(.fileExists, "\(path) is there already; name a file that is to be made")
                : Complaint(named: error, doing: "cannot write \(path)")
        }
    }

    /// Makes a device from a template.
    /// - Parameters:
    ///   - input: a file or a pipe at the template's beginning, or a directory in the OCI image layout.
    ///   - name: of the input, as messages show it.
    ///   - digest: the SHA-256 that the template has to have (``Template/digest``); nil for any.
    /// - Throws: ``Complaint`` of kind `invalidTemplate`, `newerFormat`, `deviceExists`, `noSpace`; nothing is left.
    public static func importTemplate(
        _ input: SharedDescriptor, named name: String, expecting digest: [UInt8]? = nil, to newPath: String,
        progress: (DeviceProgress) -> Bool = { _ in true }
    ) throws(Complaint) {
        let origin = ArchiveOrigin.template(name)
        let kind = try Complaint.wrap("cannot read \(name)") { () throws(SystemError) in
            try input.descriptor.status().kind
        }
        guard kind == .directory else {
            let reader = try TemplateReader(input, from: origin)
            return try DeviceDirectory.importTemplate(reader, expecting: digest, to: newPath, progress: progress)
        }
        let layout = try OCILayoutInput(input.descriptor, from: origin)
        if let digest, digest != layout.manifest {
            throw origin.complaint(.otherDigest(layout.manifest))
        }
        let reader = try TemplateReader(layout.layer, from: origin)
        try DeviceDirectory.importTemplate(reader, expecting: layout.digest, to: newPath, progress: progress)
    }
}
