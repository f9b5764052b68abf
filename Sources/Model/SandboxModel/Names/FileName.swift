// One component of a path, validated once, where it enters the program. Every other module relies on it.

/// The name of a directory entry: 1 to 255 bytes, no `/`, no NUL, neither `.` nor `..`.
///
/// A name is bytes, not text: POSIX requires no encoding, and a name that is not UTF-8 is kept as it was given.
public struct FileName: Hashable, Sendable {
    /// The name's bytes with one NUL at the end, as system calls take them.
    public let terminated: [UInt8]

    /// `NAME_MAX` of every host filesystem that can hold a device.
    public static let maximumLength = 255

    /// - Parameter bytes: the name without a terminator.
    /// - Returns: nil if the bytes cannot be one component of a path.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= FileName.maximumLength else { return nil }
        var terminated = [UInt8]()
        terminated.reserveCapacity(bytes.count + 1)
        terminated.append(contentsOf: bytes)
        terminated.append(0)
        self.init(terminated: terminated)
    }

    /// - Parameter terminated: the name with one NUL at the end. Its memory is shared, and no byte is copied.
    /// - Returns: nil if the bytes before the NUL cannot be one component of a path.
    public init?(terminated: [UInt8]) {
        let count = terminated.count - 1
        guard count >= 1, count <= FileName.maximumLength, terminated[count] == 0 else { return nil }
        var index = 0
        while index < count {
            let byte = terminated[index]
            if byte == 0 || byte == UInt8(ascii: "/") { return nil }
            index += 1
        }
        let dot = UInt8(ascii: ".")
        if terminated[0] == dot, count == 1 || count == 2 && terminated[1] == dot { return nil }
        self.terminated = terminated
    }

    public init?(_ text: String) {
        self.init(text.utf8)
    }

    public var bytes: ArraySlice<UInt8> { terminated.dropLast() }

    /// The name as text for people, with U+FFFD for invalid UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension FileName: ExpressibleByStringLiteral {
    /// For names in source code.
    public init(stringLiteral value: StaticString) {
        guard let name = FileName(value.description) else {
            preconditionFailure("not a file name: \(value)")
        }
        self = name
    }
}

extension Collection<FileName> {
    /// The path as text for people.
    public var text: String { map(\.text).joined(separator: "/") }

    /// The path's bytes, with `/` between names.
    public var joined: [UInt8] {
        var bytes: [UInt8] = []
        for name in self {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            bytes += name.bytes
        }
        return bytes
    }
}

extension [FileName] {
    /// Splits a relative path. Empty bytes give an empty path.
    /// - Returns: nil for an absolute path, and for empty parts, `.` and `..`.
    public init?(joined bytes: [UInt8]) {
        self = []
        guard !bytes.isEmpty else { return }
        for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let name = FileName(part) else { return nil }
            append(name)
        }
    }
}
