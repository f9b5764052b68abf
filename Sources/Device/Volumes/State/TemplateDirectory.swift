// The directory of templates, and the devices that are made of them.

import BackingStore
import DeviceLifecycle
import Foundation
import Glibc
import HashFunctions
import Platform
import SandboxModel

/// Makes devices from the templates of a directory: devices that are shut down, files that `export` wrote, and
/// directories in the OCI image layout. A file or a layout is imported once, and the devices are clones of that.
struct TemplateDirectory: Sendable {
    private let directory: SharedDescriptor
    private let path: String
    private let state: VolumeState
    /// One import of a template at a time.
    private let turns = NamedTurns()

    /// - Parameter path: of the directory.
    /// - Throws: ``Complaint`` of kind `notFound`, `notAllowed` or `badRequest`.
    init(_ path: String, state: VolumeState) throws(Complaint) {
        self.path = path
        self.state = state
        let doing = "cannot use \(path) for templates"
        directory = try Complaint.wrapNamed(doing) { () throws(SystemError) in
            SharedDescriptor(try Descriptor.openDirectory(byOwnLinks: try HostPath.absolute(path)))
        }
        try VolumeState.requireOwnPlace(directory.descriptor, path, doing)
        let place = try Complaint.wrap(doing) { [directory] () throws(SystemError) in
            try HostPath.symbolicLinkTarget("/proc/self/fd/\(directory.descriptor.number)")
        }
        guard HostPath.rest(of: place, in: state.path) == nil else {
            throw Complaint(
                .badRequest, "\(doing): it is in \(state.path), where all is removed that belongs to no volume")
        }
    }

    /// Makes a device.
    /// - Throws: ``Complaint`` of kind `notFound`, `invalidTemplate`, `noSpace`, …; nothing is left then.
    func makeDevice(at place: String, from name: FileName) async throws(Complaint) {
        let source = try await original(of: name)
        try await blocking { () throws(Complaint) in try StoredDevice.clone(source, to: place, counting: false) }
    }

    /// The device that a template stands for: itself, or the one that was imported from it.
    private func original(of name: FileName) async throws(Complaint) -> String {
        let shown = "\(path)/\(name.text)"
        let missing = Complaint(.notFound, "there is no template \(name.text) in \(path)")
        // A link may lead to the template, which the owner of the directory has chosen.
        guard let status = try? HostPath.status(shown) else { throw missing }
        if status.kind == .directory {
            let isDevice = try Complaint.wrap("cannot look at \(shown)") { () throws(SystemError) in
                try DeviceDirectory.isDevice(Descriptor.openDirectory(path: shown))
            }
            if isDevice { return shown }
        }
        let imported = try key(of: name, status, shown)
        let place = state.template(imported)
        return try await turns.run(imported) { () async throws(Complaint) in
            if (try? HostPath.status(place)) == nil {
                try await blocking { () throws(Complaint) in
                    let file = try Complaint.wrapNamed("cannot read \(shown)") { () throws(SystemError) in
                        SharedDescriptor(try Descriptor.open(path: shown, flags: O_RDONLY | O_NONBLOCK))
                    }
                    try StoredDevice.importTemplate(file, named: shown, to: place)
                }
            }
            return place
        }
    }

    /// The name of the imported device: another where the template is another file now.
    private func key(of name: FileName, _ status: FileStatus, _ shown: String) throws(Complaint) -> String {
        var facts = Array(name.bytes) + [0] + TemplateDirectory.facts(status)
        if status.kind == .directory {
            // The layout's blobs have their digests as names.
            let index = try Complaint.wrapNamed("cannot read \(shown)") { () throws(SystemError) in
                try HostPath.contents("\(shown)/index.json", limit: 4 << 20)
            }
            facts += index
        }
        return [UInt8](HashFunction.sha256.digest(of: facts).prefix(16)).hexadecimal
    }

    private static func facts(_ status: FileStatus) -> [UInt8] {
        let time = status.modificationTime
        return Array("\(status.inode) \(status.size) \(time.tv_sec) \(time.tv_nsec)".utf8)
    }

    /// The names of the imported devices whose templates are there still.
    func imported() throws(Complaint) -> Set<String> {
        let names = try Complaint.wrap("cannot list \(path)") { () throws(SystemError) in
            try directory.descriptor.names { _ in true }
        }
        var keys: Set<String> = []
        for name in names {
            let shown = "\(path)/\(name.text)"
            guard let status = try? HostPath.status(shown), let key = try? key(of: name, status, shown) else {
                continue
            }
            keys.insert(key)
        }
        return keys
    }
}

/// Runs a body that blocks, on a thread of its own.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(Complaint) -> Value
) async throws(Complaint) -> Value {
    let result = await WorkQueue().run { () -> Result<Value, Complaint> in
        Result { () throws(Complaint) in try body() }
    }
    return try result.get()
}
