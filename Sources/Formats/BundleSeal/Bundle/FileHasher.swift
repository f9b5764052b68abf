// Digests of whole files.

import HashFunctions
import Platform
import SandboxModel

/// The buffer and the digest contexts with which one thread hashes one file after the other.
final class FileHasher {
    private let buffer = PageBuffer(count: 256 * 1024)
    private var sha1 = MessageDigest(.sha1)
    private var sha256 = MessageDigest(.sha256)
    private var sha384 = MessageDigest(.sha384)

    /// Computes the digest of a file's content.
    /// - Returns: nil if the meter is cancelled.
    func digest(
        _ function: HashFunction, of file: borrowing Descriptor, meter: WorkMeter
    ) throws(SystemError) -> [UInt8]? {
        try digests([function], of: file, meter: meter)?[0]
    }

    /// Computes several digests in one pass over the file.
    /// - Returns: the digests in the order of `functions`; nil if the meter is cancelled.
    func digests(
        _ functions: [HashFunction], of file: borrowing Descriptor, meter: WorkMeter
    ) throws(SystemError) -> [[UInt8]]? {
        // A cancelled computation has left its bytes in the contexts.
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
