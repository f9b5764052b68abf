// Extended attributes of the host (xattr(7)). The *at calls came with Linux 6.13, so entries are reached through
// /proc/self/fd, which no rename can redirect. Only reading uses getxattrat(2) where it exists: a purge reads an
// attribute of every entry, and the path takes three times as long.

import CPlatform
import Glibc
public import SandboxModel

/// A file or directory whose extended attributes are read and set.
///
/// It keeps numbers of descriptors, not the descriptors: those have to stay open as long as it is used.
public struct AttributeHolder: Sendable {
    /// How the system calls reach the file.
    private enum Place {
        /// An entry of a directory; the name ends with NUL.
        case entry(directory: Int32, name: [UInt8])
        case directory(Int32)
        case file(Int32)
        case path(String, follows: Bool)
    }

    private let place: Place

    public init(_ name: FileName, in directory: borrowing Descriptor) {
        place = .entry(directory: directory.number, name: name.terminated)
    }

    public init(_ descriptor: borrowing Descriptor) {
        place = .directory(descriptor.number)
    }

    /// A file by its descriptor, for instance one that no longer has a name.
    public init(file descriptor: borrowing Descriptor) {
        place = .file(descriptor.number)
    }

    /// A path, for code of applications, which have nothing else.
    /// - Parameter following: whether to follow a symbolic link at the end of the path.
    public init(path: String, following: Bool) {
        place = .path(path, follows: following)
    }

    /// Ends with NUL.
    /// A directory's path has `/.` at its end, because a call that follows no link would act on the link in /proc.
    private var path: [UInt8] {
        switch place {
        case .entry(let directory, let name): Array("/proc/self/fd/\(directory)/".utf8) + name
        case .directory(let number): Array("/proc/self/fd/\(number)/.".utf8) + [0]
        case .file(let number): Array("/proc/self/fd/\(number)".utf8) + [0]
        case .path(let path, _): Array(path.utf8) + [0]
        }
    }

    private var follows: Bool {
        switch place {
        case .file: true
        case .path(_, let follows): follows
        case .entry, .directory: false
        }
    }

    @inline(__always)
    private func call(
        _ name: [UInt8], _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int
    ) throws(SystemError) -> Int {
        try unsafe AttributeHolder.withPointers(to: path, name + [0], body)
    }

    /// Both arrays end with NUL, and outlive the call.
    @inline(__always)
    private static func withPointers(
        to first: [UInt8], _ second: [UInt8], _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int
    ) throws(SystemError) -> Int {
        try systemCall {
            unsafe first.withUnsafeBytes { first in
                unsafe second.withUnsafeBytes { second in
                    unsafe body(
                        first.baseAddress!.assumingMemoryBound(to: CChar.self),
                        second.baseAddress!.assumingMemoryBound(to: CChar.self))
                }
            }
        }
    }

    /// `getxattr(2)`, or `getxattrat(2)` where the kernel has it.
    /// - Throws: ENODATA if there is no such attribute.
    /// - Throws: ERANGE if the value is longer than 64 KiB (XATTR_SIZE_MAX).
    public func value(of name: [UInt8]) throws(SystemError) -> [UInt8] {
        var capacity = 256
        while true {
            var value = [UInt8](repeating: 0, count: capacity)
            do throws(SystemError) {
                return Array(value[..<(try read(name, into: &value))])
            } catch {
                guard error == .range, capacity < 1 << 16 else { throw error }
                capacity = 1 << 16
            }
        }
    }

    private func read(_ name: [UInt8], into value: inout [UInt8]) throws(SystemError) -> Int {
        if case .entry(let directory, let entry) = place, AttributeHolder.hasYoungerCall {
            return try unsafe AttributeHolder.withPointers(to: entry, name + [0]) { entry, name in
                unsafe value.withUnsafeMutableBytes { bytes in
                    unsafe platform_getxattrat(directory, entry, name, bytes.baseAddress, bytes.count)
                }
            }
        }
        return try unsafe call(name) { path, name in
            unsafe value.withUnsafeMutableBytes { bytes in
                unsafe platform_getxattr(path, name, bytes.baseAddress, bytes.count, follows ? 1 : 0)
            }
        }
    }

    /// An older kernel answers ENOSYS, a seccomp filter that does not know the call EPERM.
    private static let hasYoungerCall: Bool = {
        let answer = unsafe platform_getxattrat(AT_FDCWD, "/", "user.appcontainer.none", nil, 0)
        return answer >= 0 || errno != ENOSYS && errno != EPERM
    }()

    /// `setxattr(2)`.
    /// - Parameter flags: `XATTR_CREATE`, `XATTR_REPLACE` or 0.
    /// - Throws: EEXIST or ENODATA by the flag; ENOSPC or EDQUOT; EOPNOTSUPP where the filesystem has no such
    ///   attributes; EPERM for `user.` attributes of anything but files and directories.
    public func set(_ name: [UInt8], to value: [UInt8], flags: Int32 = 0) throws(SystemError) {
        _ = try unsafe call(name) { path, name in
            unsafe value.withUnsafeBytes { bytes in
                Int(unsafe platform_setxattr(path, name, bytes.baseAddress, bytes.count, flags, follows ? 1 : 0))
            }
        }
    }

    /// `removexattr(2)`.
    /// - Throws: ENODATA if there is no such attribute.
    public func remove(_ name: [UInt8]) throws(SystemError) {
        _ = try unsafe call(name) { path, name in
            Int(unsafe platform_removexattr(path, name, follows ? 1 : 0))
        }
    }

    /// `listxattr(2)`: the names of all attributes, in the host's order.
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
