// Paths that the user named: made absolute, resolved, read whole.

public import Glibc
public import SandboxModel

public enum HostPath {
    /// The path without symbolic links, `.` and `..`.
    public static func resolved(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw SystemError(code: errno) }
        // realpath allocated it for us.
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The path from the root, as it was written otherwise. An empty path stays one: it names nothing
    /// (path_resolution(7)), and not the present directory.
    public static func absolute(_ path: String) throws(SystemError) -> String {
        if path.isEmpty || path.hasPrefix("/") { return path }
        guard let directory = unsafe getcwd(nil, 0) else { throw SystemError(code: errno) }
        // getcwd allocated it for us.
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }

    /// The directory that something lies in, and its name there.
    /// - Parameter absolute: a path from the root, without a slash at its end.
    /// - Returns: nil for what ends with no name, such as the root.
    public static func place(of absolute: String) -> (directory: String, name: FileName)? {
        guard let slash = absolute.utf8.lastIndex(of: UInt8(ascii: "/")),
            let name = FileName(absolute[slash...].utf8.dropFirst())
        else { return nil }
        return (slash == absolute.startIndex ? "/" : String(absolute[..<slash]), name)
    }

    /// A resolved path, then every directory that it lies in up to the root.
    public static func withAncestors(_ resolved: String) -> [String] {
        var paths = [resolved]
        while let last = paths.last, let slash = last.lastIndex(of: "/"), last != "/" {
            paths.append(slash == last.startIndex ? "/" : String(last[..<slash]))
        }
        return paths
    }

    /// Whether a directory is another or holds it, at whatever depth. Both are known by their inodes, so that a
    /// directory that is bound elsewhere is still the same.
    public static func holds(_ directory: String, _ path: String) throws(SystemError) -> Bool {
        try holds(try status(directory).identity, path)
    }

    /// Whether a directory that is known by its inode is another or holds it.
    public static func holds(_ directory: FileStatus.Identity, _ path: String) throws(SystemError) -> Bool {
        for place in withAncestors(try resolved(path)) where try status(place).identity == directory { return true }
        return false
    }

    /// Whether a path is a file that this process may run.
    public static func isProgram(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && (try? status(path).kind) == .file
    }

    /// Whether this process may make something in a directory.
    public static func isWritable(_ directory: String) -> Bool {
        unsafe access(directory, W_OK | X_OK) == 0
    }

    /// All bytes of a file that is not large.
    public static func contents(_ path: String, limit: Int = 1 << 24) throws(SystemError) -> [UInt8] {
        try Descriptor.open(path: path, flags: O_RDONLY).readToEnd(limit: limit)
    }

    public static func makeDirectory(_ path: String, mode: mode_t) throws(SystemError) {
        try systemCall { unsafe mkdir(path, mode) }
    }

    public static func changeMode(of path: String, to mode: mode_t) throws(SystemError) {
        try systemCall { unsafe chmod(path, mode) }
    }

    public static func removeDirectory(_ path: String) throws(SystemError) {
        try systemCall { unsafe rmdir(path) }
    }

    public static func removeFile(_ path: String) throws(SystemError) {
        try systemCall { unsafe unlink(path) }
    }

    public static func symbolicLinkTarget(_ path: String) throws(SystemError) -> String {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = try systemCall {
            unsafe target.withUnsafeMutableBytes { bytes in
                unsafe readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        return String(decoding: target[..<length], as: UTF8.self)
    }

    /// Asks the filesystem behind a path whether it answers. A stat does not ask: the kernel may remember the answer.
    /// - Throws: ENOTCONN where a FUSE server has died, and what stat(2) throws.
    public static func requireAnswer(_ path: String) throws(SystemError) {
        var statistics = statvfs()
        try systemCall { unsafe statvfs(path, &statistics) }
    }

    public static func status(_ path: String, following: Bool = true) throws(SystemError) -> FileStatus {
        var status = stat()
        try systemCall { unsafe following ? stat(path, &status) : lstat(path, &status) }
        return FileStatus(status)
    }
}

extension Descriptor {
    /// Reads from the present position to the end: for pipes, and for files of /proc, which have no length.
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
    /// Writes at the present position, or at the end of a file that is open for appending.
    public borrowing func append(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: number)
    }
}

extension Descriptor {
    /// As ``append(_:)``, of memory that the caller keeps.
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

/// Writes all bytes, in as many calls as that takes.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var done = 0
    while done < bytes.count {
        done += try systemCall {
            unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
        }
    }
}
