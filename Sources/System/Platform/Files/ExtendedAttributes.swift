// Extended attributes of the host. The kernel's own *at calls for them are younger than the kernels we serve,
// so an entry is named through /proc/self/fd, which cannot be redirected. Reading alone takes the younger call where there
// is one: a purge looks at an attribute of every entry, and by the path that takes three times as long.

import CPlatform
import Glibc
public import SandboxModel

/// Where an attribute is kept: an entry of a directory, or a descriptor.
public struct AttributeHolder: Sendable {
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

    /// A file that has no name any more, or that is known by its descriptor only.
    public init(file descriptor: borrowing Descriptor) {
        place = .file(descriptor.number)
    }

    /// What a path names, for applications: they have nothing but paths.
    /// - Parameter following: whether a symbolic link at its end is followed.
    public init(path: String, following: Bool) {
        place = .path(path, follows: following)
    }

    /// Ends with NUL.
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

    /// An older kernel says that it does not know the call, and a sandbox that does not says that it is not permitted.
    private static let hasYoungerCall: Bool = {
        let answer = unsafe platform_getxattrat(AT_FDCWD, "/", "user.appcontainer.none", nil, 0)
        return answer >= 0 || errno != ENOSYS && errno != EPERM
    }()

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
