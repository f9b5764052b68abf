// The calls of xattr(2) with Darwin's arguments, which Swift cannot import from the C library of Linux. The pointers
// are the caller's, and are used during the call only. The names are Darwin's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDarwin

// Constants with Darwin's values. An attribute that is not there is ENODATA on Linux.
public var ENOATTR: Int32 { 61 }
/// Acts on a symbolic link itself.
public var XATTR_NOFOLLOW: Int32 { 0x0001 }
/// Fails with EEXIST if there is such an attribute.
public var XATTR_CREATE: Int32 { 0x0002 }
/// Fails with ENOATTR if there is no such attribute.
public var XATTR_REPLACE: Int32 { 0x0004 }
/// Has no effect here.
public var XATTR_SHOWCOMPRESSION: Int32 { 0x0020 }
/// The longest name of an attribute, in bytes.
public var XATTR_MAXNAMELEN: Int32 { 127 }

/// Reads an attribute: `NAME` of Darwin is `user.NAME` of Linux.
///
/// - Parameters:
///   - path: of the file.
///   - name: without `user.`.
///   - value: where the value goes; nil for its size alone.
///   - size: of the place for it, in bytes.
///   - position: 0.
///   - options: ``XATTR_NOFOLLOW``.
/// - Returns: the size in bytes; -1 and `errno`, such as ``ENOATTR`` or ERANGE, on failure.
public func getxattr(
    _ path: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ value: UnsafeMutableRawPointer!, _ size: Int,
    _ position: UInt32, _ options: Int32
) -> Int {
    unsafe appcontainer_getxattr(path, name, value, size, position, options)
}

/// As ``getxattr(_:_:_:_:_:_:)``, for an open file.
public func fgetxattr(
    _ fd: Int32, _ name: UnsafePointer<CChar>!, _ value: UnsafeMutableRawPointer!, _ size: Int,
    _ position: UInt32, _ options: Int32
) -> Int {
    unsafe appcontainer_fgetxattr(fd, name, value, size, position, options)
}

/// Sets an attribute: `NAME` of Darwin is `user.NAME` of Linux.
///
/// - Parameters:
///   - path: of the file.
///   - name: without `user.`.
///   - value: the bytes of the value.
///   - size: how many there are.
///   - position: 0.
///   - options: ``XATTR_NOFOLLOW``, ``XATTR_CREATE`` and ``XATTR_REPLACE``.
/// - Returns: 0; -1 and `errno` on failure.
public func setxattr(
    _ path: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ value: UnsafeRawPointer!, _ size: Int,
    _ position: UInt32, _ options: Int32
) -> Int32 {
    unsafe appcontainer_setxattr(path, name, value, size, position, options)
}

/// As ``setxattr(_:_:_:_:_:_:)``, for an open file.
public func fsetxattr(
    _ fd: Int32, _ name: UnsafePointer<CChar>!, _ value: UnsafeRawPointer!, _ size: Int, _ position: UInt32,
    _ options: Int32
) -> Int32 {
    unsafe appcontainer_fsetxattr(fd, name, value, size, position, options)
}

/// Lists the names of all attributes, each with a NUL at its end. A file's class and `xdg.robots.backup`, which are no
/// attributes on Darwin, are not listed.
///
/// - Parameters:
///   - path: of the file.
///   - names: where the names go; nil for their size alone.
///   - size: of the place for them, in bytes.
///   - options: ``XATTR_NOFOLLOW``.
/// - Returns: the size in bytes; -1 and `errno` on failure.
public func listxattr(
    _ path: UnsafePointer<CChar>!, _ names: UnsafeMutablePointer<CChar>!, _ size: Int, _ options: Int32
) -> Int {
    unsafe appcontainer_listxattr(path, names, size, options)
}

/// As ``listxattr(_:_:_:_:)``, for an open file.
public func flistxattr(
    _ fd: Int32, _ names: UnsafeMutablePointer<CChar>!, _ size: Int, _ options: Int32
) -> Int {
    unsafe appcontainer_flistxattr(fd, names, size, options)
}

/// Removes an attribute.
/// - Returns: 0; -1 and `errno`, such as ``ENOATTR``, on failure.
public func removexattr(_ path: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ options: Int32) -> Int32 {
    unsafe appcontainer_removexattr(path, name, options)
}

/// As ``removexattr(_:_:_:)``, for an open file.
public func fremovexattr(_ fd: Int32, _ name: UnsafePointer<CChar>!, _ options: Int32) -> Int32 {
    unsafe appcontainer_fremovexattr(fd, name, options)
}
