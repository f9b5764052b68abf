// Random bytes from the kernel.

import CPlatform
import Glibc

public enum Entropy {
    /// Fills a range of the buffer with bytes from the kernel's generator.
    public static func fill(_ buffer: PageBuffer, at offset: Int, count: Int) {
        precondition(offset >= 0 && count >= 0 && offset + count <= buffer.count)
        unsafe fill(UnsafeMutableRawBufferPointer(start: buffer.base + offset, count: count))
    }

    /// Fills memory that the caller owns, such as the place of a key.
    public static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < bytes.count {
            let got = unsafe platform_getrandom(bytes.baseAddress! + done, bytes.count - done)
            // The only failure left on a running system is a signal before the first byte.
            precondition(got > 0 || errno == EINTR, "getrandom: \(errno)")
            done += max(got, 0)
        }
    }

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
