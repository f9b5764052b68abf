// Extended attributes of the host. The kernel's own *at calls for them are younger than the kernels we serve,
// so an entry is named through /proc/self/fd, which cannot be redirected.

import CPlatform
import Glibc
public import SandboxModel

/// Where an attribute is kept: an entry of a directory, or a descriptor.
public struct AttributeHolder: Sendable {
    private let path: [UInt8]

    public init(_ name: FileName, in directory: borrowing Descriptor) {
        path = Array("/proc/self/fd/\(directory.number)/".utf8) + name.terminated
    }

    public init(_ descriptor: borrowing Descriptor) {
        path = Array("/proc/self/fd/\(descriptor.number)/.".utf8) + [0]
    }

    /// A file that has no name any more, or that is known by its descriptor only.
    public init(file descriptor: borrowing Descriptor) {
        path = Array("/proc/self/fd/\(descriptor.number)".utf8) + [0]
        follows = true
    }

    private var follows = false

    @inline(__always)
    private func call(
        _ name: [UInt8], _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int
    ) throws(SystemError) -> Int {
        let terminated = name + [0]
        let path = self.path
        return try systemCall {
            // Both arrays end with NUL and outlive the call.
            unsafe path.withUnsafeBytes { path in
                unsafe terminated.withUnsafeBytes { name in
                    unsafe body(
                        path.baseAddress!.assumingMemoryBound(to: CChar.self),
                        name.baseAddress!.assumingMemoryBound(to: CChar.self))
                }
            }
        }
    }

    public func value(of name: [UInt8]) throws(SystemError) -> [UInt8] {
        var capacity = 256
        while true {
            var value = [UInt8](repeating: 0, count: capacity)
            do throws(SystemError) {
                let length = try unsafe call(name) { path, name in
                    unsafe value.withUnsafeMutableBytes { bytes in
                        unsafe platform_getxattr(path, name, bytes.baseAddress, bytes.count, follows ? 1 : 0)
                    }
                }
                return Array(value[..<length])
            } catch {
                guard error == .range, capacity < 1 << 16 else { throw error }
                capacity = 1 << 16
            }
        }
    }

    /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE or 0.
    public func set(_ name: [UInt8], to value: [UInt8], flags: Int32 = 0) throws(SystemError) {
        _ = try unsafe call(name) { path, name in
            unsafe value.withUnsafeBytes { bytes in
                Int(unsafe platform_setxattr(path, name, bytes.baseAddress, bytes.count, flags, follows ? 1 : 0))
            }
        }
    }

    public func remove(_ name: [UInt8]) throws(SystemError) {
        _ = try unsafe call(name) { path, name in
            Int(unsafe platform_removexattr(path, name, follows ? 1 : 0))
        }
    }

    /// The names of all attributes, in the host's order.
    public func names() throws(SystemError) -> [[UInt8]] {
        var capacity = 1024
        while true {
            var list = [UInt8](repeating: 0, count: capacity)
            do throws(SystemError) {
                let length = try unsafe call([]) { path, _ in
                    unsafe list.withUnsafeMutableBytes { bytes in
                        let start = unsafe bytes.baseAddress!.assumingMemoryBound(to: CChar.self)
                        return unsafe platform_listxattr(path, start, bytes.count, follows ? 1 : 0)
                    }
                }
                return list[..<length].split(separator: 0).map(Array.init)
            } catch {
                guard error == .range, capacity < 1 << 16 else { throw error }
                capacity = 1 << 16
            }
        }
    }
}
