// Creating a device: it is built beside its place under a temporary name, then renamed.

public import DataProtection
import Glibc
import Platform
public import SandboxModel

extension DeviceDirectory {
    /// Creates an empty device where nothing is, or in place of an empty directory.
    ///
    /// - Parameter makeKeybag: encodes a keybag for the new UID key.
    /// - Throws: ``Complaint`` of kind `deviceExists`, `hostFilesystem`, `notFound` if the directory above is missing;
    ///   errors of `makeKeybag`. Nothing is left behind.
    public static func create(
        at path: String, settings: DeviceSettings = DeviceSettings(),
        makeKeybag: (UIDKey) throws(Complaint) -> [UInt8]
    ) throws(Complaint) {
        let place = try DevicePlace.at(path)
        try place.build { (directory) throws(Complaint) in
            let uidKey = UIDKey()
            let keybag = try makeKeybag(uidKey)
            let record = DeviceRecord(
                uuid: ContainerUUID().text, created: DeviceRecords.now(), settings: settings)
            let authentication = RecordAuthentication(uidKey, device: record.uuid, isRequired: true)
            let apps = try DeviceRecords.encode(AppRegistry())
            let sessions = try DeviceRecords.encode(SessionRecord())
            let files: [(FileName, [UInt8])] = [
                (Name.apps, authentication.sealed(apps, Name.apps)),
                (Name.sessions, authentication.sealed(sessions, Name.sessions)),
                (Name.keybag, keybag),
                (Name.uidKey, uidKey.exported()),
                (Name.lock, []),
                (Name.record, authentication.sealed(try DeviceRecords.encode(record), Name.record)),
            ]
            try Complaint.wrap("cannot create \(place.path)") { () throws(SystemError) in
                try makeContainerDirectories(in: directory)
                try directory.makePrivateDirectory(Name.staging)
                try directory.makePrivateDirectory(Name.trash)
                for (name, bytes) in files { try RecordFile(name: name).replace(with: bytes, in: directory) }
            }
        }
    }

    /// Makes the missing directories of all kinds of containers. Those that a power cut takes away are made at the next
    /// boot.
    static func makeContainerDirectories(in directory: borrowing Descriptor) throws(SystemError) {
        for kind in ContainerKind.allCases {
            for depth in kind.path.indices {
                let parent = try directory.openDirectory(at: kind.path[..<depth])
                guard try !parent.exists(kind.path[depth]) else { continue }
                try parent.makePrivateDirectory(kind.path[depth])
            }
        }
    }
}

extension Descriptor {
    /// Makes a directory with mode 0700, whatever the umask.
    borrowing func makePrivateDirectory(_ name: FileName) throws(SystemError) {
        try makeDirectory(name, mode: S_IRWXU)
        try changeMode(of: name, to: S_IRWXU)
    }
}
