// Digests of whole files, read through one buffer.

import HashFunctions
import Platform
import SandboxModel

/// What one thread needs to hash files one after the other.
final class FileHasher {
    private let buffer = PageBuffer(count: 256 * 1024)
    private var sha1 = MessageDigest(.sha1)
    private var sha256 = MessageDigest(.sha256)
    private var sha384 = MessageDigest(.sha384)

    /// The digest of a file's content, from its beginning to its end.
    /// - Returns: nil when the meter says that nobody wants it any more.
    func digest(
        _ function: HashFunction, of file: borrowing Descriptor, meter: WorkMeter
    ) throws(SystemError) -> [UInt8]? {
        try digests([function], of: file, meter: meter)?[0]
    }

    /// Several digests in one reading.
    func digests(
        _ functions: [HashFunction], of file: borrowing Descriptor, meter: WorkMeter
    ) throws(SystemError) -> [[UInt8]]? {
        // What an earlier computation that was given up has taken in.
        for function in functions { _ = finish(function) }
        var position: Int64 = 0
        while true {
            guard !meter.isCancelled else { return nil }
            let count = try file.read(into: buffer, count: buffer.count, from: position)
            for function in functions { update(function, count) }
            position += Int64(count)
            meter.add(Int64(count))
            if count < buffer.count { break }
        }
        return functions.map(finish)
    }

    private func update(_ function: HashFunction, _ count: Int) {
        switch function {
        case .sha1: sha1.update(buffer, at: 0, count: count)
        case .sha256: sha256.update(buffer, at: 0, count: count)
        case .sha384: sha384.update(buffer, at: 0, count: count)
        }
    }

    private func finish(_ function: HashFunction) -> [UInt8] {
        switch function {
        case .sha1: sha1.finish()
        case .sha256: sha256.finish()
        case .sha384: sha384.finish()
        }
    }
}
