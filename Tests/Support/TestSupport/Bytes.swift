// Work on many bytes at once: a test that is not optimized takes a call for each byte otherwise.

import Glibc

extension [UInt8] {
    /// Whether these bytes agree with those of another array, which goes on with zeros behind its end.
    public func agrees(with other: [UInt8], in range: Range<Int>) -> Bool {
        let (start, both) = (range.lowerBound, Swift.min(range.upperBound, other.count) - range.lowerBound)
        return unsafe withUnsafeBytes { bytes in
            let same = unsafe other.withUnsafeBytes { other in
                unsafe both <= 0 || memcmp(bytes.baseAddress! + start, other.baseAddress! + start, both) == 0
            }
            return same && range.dropFirst(Swift.max(both, 0)).allSatisfy { unsafe bytes[$0] == 0 }
        }
    }

    /// Puts bytes of another array over those from `start`.
    public mutating func overwrite(from start: Int, with other: [UInt8], _ range: Range<Int>? = nil) {
        let range = range ?? other.startIndex..<other.endIndex
        guard !range.isEmpty else { return }
        precondition(start + range.count <= count)
        unsafe withUnsafeMutableBytes { bytes in
            unsafe other.withUnsafeBytes { other in
                _ = unsafe memcpy(bytes.baseAddress! + start, other.baseAddress! + range.lowerBound, range.count)
            }
        }
    }

    public mutating func clear(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        precondition(range.upperBound <= count)
        unsafe withUnsafeMutableBytes { bytes in
            _ = unsafe memset(bytes.baseAddress! + range.lowerBound, 0, range.count)
        }
    }
}
