// A file's handle, as name_to_handle_at(2) tells it.

import CPlatform
public import SandboxModel

/// What a filesystem knows a file by, whatever its names are. What the bytes say is the filesystem's own.
public struct ExportedHandle: Sendable {
    private let type: Int32
    private let bytes: [UInt8]

    public init(type: Int32, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// A descriptor that only names the file (O_PATH).
    /// - Parameter mount: a descriptor of the mount that the file is in.
    /// - Throws: EPERM without CAP_DAC_READ_SEARCH; ESTALE where there is no such file.
    public func open(in mount: borrowing Descriptor) throws(SystemError) -> Descriptor {
        let mount = mount.number
        let number = try systemCall {
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe platform_open_by_handle(mount, type, bytes.baseAddress, UInt32(bytes.count), platform_O_PATH)
            }
        }
        return Descriptor(owning: number)
    }
}

extension Descriptor {
    /// Has the kernel ask the filesystem for the file's attributes, whatever it knows of them.
    public borrowing func refreshAttributes() throws(SystemError) {
        let number = self.number
        _ = try systemCall { platform_refresh_attributes(number) }
    }
}
