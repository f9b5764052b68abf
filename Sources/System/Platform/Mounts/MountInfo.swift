// The mounts of this mount namespace: /proc/self/mountinfo (proc_pid_mountinfo(5)).

public import SandboxModel

/// One line of mountinfo.
public struct MountInfo: Equatable, Sendable {
    /// The number of the mount, which no other mount has while this one lasts.
    public let number: UInt64
    /// The minor device number; for FUSE also the number of the connection.
    public let minor: UInt32
    /// The directory of the filesystem that is the root of this mount.
    public let root: String
    public let mountPoint: String
    /// Options of this mount, such as `ro`.
    public let options: [String]
    public let type: String
    public let source: String
    /// Options of the filesystem, separated by commas, such as `user_id=1000`; FUSE's tell whose mount it is.
    public let filesystemOptions: String

    init(
        number: UInt64, minor: UInt32, root: String, mountPoint: String, options: [String], type: String,
        source: String, filesystemOptions: String
    ) {
        self.number = number
        self.minor = minor
        self.root = root
        self.mountPoint = mountPoint
        self.options = options
        self.type = type
        self.source = source
        self.filesystemOptions = filesystemOptions
    }

    /// - Returns: nil if the line is malformed.
    public init?(line: some StringProtocol) {
        // By bytes, because a space and a combining mark after it are one character.
        let fields = line.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        // Optional fields end with a hyphen.
        guard fields.count >= 10, let end = fields.dropFirst(6).firstIndex(of: "-"), fields.count > end + 2 else {
            return nil
        }
        guard let number = UInt64(fields[0]) else { return nil }
        self.number = number
        minor = fields[2].split(separator: ":" as Character).last.flatMap { UInt32($0) } ?? 0
        root = MountInfo.decoded(fields[3])
        mountPoint = MountInfo.decoded(fields[4])
        options = fields[5].split { $0 == "," }.map { String($0) }
        type = MountInfo.decoded(fields[end + 1])
        source = MountInfo.decoded(fields[end + 2])
        filesystemOptions = fields.count > end + 3 ? String(fields[end + 3]) : ""
    }

    /// All mounts in the order of mounting. Of two at one mount point, the later one is visible.
    public static func all() throws(SystemError) -> [MountInfo] { try all(ofProcess: "self") }

    /// The same of the mount namespace of another process.
    /// - Parameter process: its number.
    static func all(ofProcess process: String) throws(SystemError) -> [MountInfo] {
        let text = try HostPath.contents("/proc/\(process)/mountinfo", limit: 64 << 20)
        return lines(in: text, with: []).compactMap { MountInfo(line: String(decoding: $0, as: UTF8.self)) }
    }

    /// The mounts whose source begins with a text, in the order of mounting.
    public static func all(from source: String) throws(SystemError) -> [MountInfo] {
        if let found = described(from: source) { return found }
        return try all(with: encoded(source, escaped: " \t\n\\#")).filter { $0.source.utf8.starts(with: source.utf8) }
    }

    /// The same, of each mount alone.
    /// - Returns: nil where the kernel does not tell.
    private static func described(from source: String) -> [MountInfo]? {
        guard let numbers = MountNumber.all() else { return nil }
        let told = numbers.map { ($0, isMeant: $0.isFrom(source)) }
        // A mount may have no source; a kernel that tells of none tells of no source at all.
        guard told.contains(where: { $0.isMeant != nil }) else { return nil }
        return told.compactMap { $0.isMeant == true ? $0.0.info : nil }
    }

    /// The root that a mount of a directory in this one has.
    /// - Parameter rest: the path of the directory from the mount point.
    public func root(at rest: some StringProtocol) -> String {
        if rest.isEmpty { return root }
        return root == "/" ? "/\(rest)" : "\(root)/\(rest)"
    }

    /// The topmost mount at a directory; nil where nothing is mounted, or where there is none.
    public static func topmost(at path: String) -> MountInfo? { (try? MountPlace(path))?.mount() }

    /// The mounts whose mount points begin with a text, in the order of mounting.
    public static func all(at path: String) throws(SystemError) -> [MountInfo] {
        try all(with: encoded(path, escaped: " \t\n\\")).filter { $0.mountPoint.utf8.starts(with: path.utf8) }
    }

    /// The mount with a number; nil if there is none.
    public static func numbered(_ number: UInt64) throws(SystemError) -> MountInfo? {
        try all(with: Array("\(number) ".utf8)).first { $0.number == number }
    }

    /// The mounts whose lines contain a word. The others are not decoded: a host may have hundreds.
    private static func all(with word: [UInt8]) throws(SystemError) -> [MountInfo] {
        let text = try HostPath.contents("/proc/self/mountinfo", limit: 64 << 20)
        return lines(in: text, with: word).compactMap { MountInfo(line: String(decoding: $0, as: UTF8.self)) }
    }

    /// The lines that contain a word.
    static func lines(in text: [UInt8], with word: [UInt8]) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        var isFound = word.isEmpty
        while index < text.count {
            if text[index] == UInt8(ascii: "\n") {
                if isFound { found.append(text[start..<index]) }
                start = index + 1
                isFound = word.isEmpty
            } else if !isFound, text[index] == word[0], index + word.count <= text.count {
                isFound = text[index..<index + word.count].elementsEqual(word)
            }
            index += 1
        }
        return found
    }

    /// A text with the escapes of the kernel.
    static func encoded(_ text: String, escaped: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            guard escaped.utf8.contains(byte) else { return [byte] }
            let digits = String(byte, radix: 8)
            return Array("\\\(String(repeating: "0", count: 3 - digits.count))\(digits)".utf8)
        }
    }

    /// Decodes the octal escapes of the kernel for space, tab, newline, backslash and `#`.
    static func decoded(_ field: some StringProtocol) -> String {
        guard field.utf8.contains(UInt8(ascii: "\\")) else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
