// Random bytes from getrandom(2).

import CPlatform
import Glibc

public enum Entropy {
    /// `getrandom(2)` into a range of the buffer.
    public static func fill(_ buffer: PageBuffer, at offset: Int, count: Int) {
        precondition(offset >= 0 && count >= 0 && offset + count <= buffer.count)
        unsafe fill(UnsafeMutableRawBufferPointer(start: buffer.base + offset, count: count))
    }

    /// `getrandom(2)` into memory of the caller, such as a key.
    public static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < bytes.count {
            let got = unsafe platform_getrandom(bytes.baseAddress! + done, bytes.count - done)
            // On a running system only a signal before the first byte is left as a failure.
            precondition(got > 0 || errno == EINTR, "getrandom: \(errno)")
            done += max(got, 0)
        }
    }

    /// `getrandom(2)`.
    public static func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            while filled < count {
                let got = unsafe platform_getrandom(bytes.baseAddress! + filled, count - filled)
                precondition(got > 0 || errno == EINTR, "getrandom: \(errno)")
                filled += max(got, 0)
            }
        }
    }

    /// A random UUID (RFC 9562, version 4) as Apple writes them: 36 characters, upper case.
    public static func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(bytes.hexadecimal.uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
