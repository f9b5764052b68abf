// Paths of the host that the user named.

public import Glibc
public import SandboxModel

public enum HostPath {
    /// `realpath(3)`: the path without symbolic links, `.` and `..`.
    /// - Throws: ENOENT or ENOTDIR if a part of it is missing; ELOOP; ENOTCONN below a dead FUSE mount.
    public static func resolved(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw SystemError(code: errno) }
        // realpath allocated it for us.
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Puts `getcwd(3)` before a relative path. An empty path stays empty: it names nothing (path_resolution(7)), not
    /// the working directory.
    public static func absolute(_ path: String) throws(SystemError) -> String {
        if path.isEmpty || path.utf8.first == UInt8(ascii: "/") { return path }
        guard let directory = unsafe getcwd(nil, 0) else { throw SystemError(code: errno) }
        // getcwd allocated it for us.
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }

    /// Splits a path into parent directory and last name.
    /// - Parameter absolute: an absolute path without a trailing slash.
    /// - Returns: nil where there is no last name, as in `/`.
    public static func place(of absolute: String) -> (directory: String, name: FileName)? {
        guard let slash = lastSlash(in: absolute),
            let name = FileName(absolute[slash...].utf8.dropFirst())
        else { return nil }
        return (slash == absolute.startIndex ? "/" : String(absolute[..<slash]), name)
    }

    /// ``place(of:)`` of a path at which something is to be made.
    /// - Throws: EISDIR where there is no last name, ENAMETOOLONG where it is longer than any.
    public static func newPlace(of absolute: String) throws(SystemError) -> (directory: String, name: FileName) {
        if let place = place(of: absolute) { return place }
        let length = lastSlash(in: absolute).map { absolute[$0...].utf8.count - 1 } ?? 0
        throw length > FileName.maximumLength ? .nameTooLong : .isDirectory
    }

    /// A resolved path, then its parents up to the root.
    public static func withAncestors(_ resolved: String) -> [String] {
        var paths = [resolved]
        while let last = paths.last, let slash = lastSlash(in: last), last != "/" {
            paths.append(slash == last.startIndex ? "/" : String(last[..<slash]))
        }
        return paths
    }

    /// Whether `path` is `directory` or lies below it. Compares inodes (`stat(2)`), so that a bind mount of a directory
    /// counts as the directory.
    /// - Throws: ENOENT and the like if one of them cannot be looked at.
    public static func holds(_ directory: String, _ path: String) throws(SystemError) -> Bool {
        try holds(try status(directory).identity, path)
    }

    /// As ``holds(_:_:)``, with the directory given by its inode.
    public static func holds(_ directory: FileStatus.Identity, _ path: String) throws(SystemError) -> Bool {
        for place in withAncestors(try resolved(path)) where try status(place).identity == directory { return true }
        return false
    }

    /// `access(2)` with `X_OK`: whether the path is a regular file that this process may execute. The call goes by the
    /// real user ID, as the one below.
    public static func isProgram(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && (try? status(path).kind) == .file
    }

    /// `access(2)` with `W_OK | X_OK`: whether this process may create entries in the directory.
    public static func isWritable(_ directory: String) -> Bool {
        unsafe access(directory, W_OK | X_OK) == 0
    }

    /// `open(2)` and `read(2)` of a whole file.
    /// - Parameter limit: in bytes.
    /// - Throws: EFBIG beyond `limit`.
    public static func contents(_ path: String, limit: Int = 1 << 24) throws(SystemError) -> [UInt8] {
        try Descriptor.open(path: path, flags: O_RDONLY).readToEnd(limit: limit)
    }

    /// Whether something is at a path, as far as `lstat(2)` can tell.
    public static func mayExist(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try status(path, following: false)
            return true
        } catch {
            return error != .noEntry
        }
    }

    /// `mkdir(2)`.
    public static func makeDirectory(_ path: String, mode: mode_t) throws(SystemError) {
        try systemCall { unsafe mkdir(path, mode) }
    }

    /// `chmod(2)`.
    public static func changeMode(of path: String, to mode: mode_t) throws(SystemError) {
        try systemCall { unsafe chmod(path, mode) }
    }

    /// `lchown(2)`; the group stays.
    public static func changeOwner(of path: String, to user: uid_t) throws(SystemError) {
        try systemCall { unsafe lchown(path, user, gid_t.max) }
    }

    /// `rmdir(2)`.
    public static func removeDirectory(_ path: String) throws(SystemError) {
        try systemCall { unsafe rmdir(path) }
    }

    /// `unlink(2)`.
    public static func removeFile(_ path: String) throws(SystemError) {
        try systemCall { unsafe unlink(path) }
    }

    /// `readlink(2)`.
    public static func symbolicLinkTarget(_ path: String) throws(SystemError) -> String {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = try systemCall {
            unsafe target.withUnsafeMutableBytes { bytes in
                unsafe readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        return String(decoding: target[..<length], as: UTF8.self)
    }

    /// `statvfs(3)`: fails where the filesystem behind the path no longer answers. The kernel may answer stat(2) from
    /// its cache.
    /// - Throws: ENOTCONN where the FUSE server has died.
    public static func requireAnswer(_ path: String) throws(SystemError) {
        var statistics = statvfs()
        try systemCall { unsafe statvfs(path, &statistics) }
    }

    /// `stat(2)`, or `lstat(2)` unless `following`.
    public static func status(_ path: String, following: Bool = true) throws(SystemError) -> FileStatus {
        var status = stat()
        try systemCall { unsafe following ? stat(path, &status) : lstat(path, &status) }
        return FileStatus(status)
    }
}

extension Descriptor {
    /// `read(2)` from the file position to the end: for pipes, and for files of /proc, which have no length.
    /// - Throws: EFBIG beyond `limit` bytes.
    public borrowing func readToEnd(limit: Int = 1 << 24) throws(SystemError) -> [UInt8] {
        let number = self.number
        var bytes = [UInt8]()
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try systemCall {
                unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
            }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            if bytes.count > limit { throw .fileTooLarge }
        }
    }
}

extension Descriptor {
    /// `write(2)` at the file position, repeated until all bytes are written.
    public borrowing func append(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: number)
    }
}

extension Descriptor {
    /// As ``append(_:)``.
    public borrowing func append(_ bytes: borrowing RawSpan) throws(SystemError) {
        let number = self.number
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(done..<bytes.byteCount)
            done += try systemCall {
                unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
            }
        }
    }
}

/// `write(2)`, repeated until all bytes are written.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var done = 0
    while done < bytes.count {
        done += try systemCall {
            unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
        }
    }
}
