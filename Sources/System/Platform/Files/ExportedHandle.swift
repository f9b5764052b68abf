// File handles of name_to_handle_at(2).

import CPlatform
public import SandboxModel

/// A file handle: identifies a file by no name. The bytes are opaque.
public struct ExportedHandle: Sendable {
    private let type: Int32
    private let bytes: [UInt8]

    public init(type: Int32, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// `open_by_handle_at(2)` with `O_PATH`.
    /// - Parameter mount: a descriptor of any file on the same mount.
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
    /// `statx(2)` with `AT_STATX_FORCE_SYNC`: the kernel asks the filesystem, whatever it has cached.
    public borrowing func refreshStatus() throws(SystemError) {
        let number = self.number
        _ = try systemCall { platform_refresh_status(number) }
    }
}
