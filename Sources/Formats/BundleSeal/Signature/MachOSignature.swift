// The signature embedded in a Mach-O program, and the comparison of the program's pages with it.

import Glibc
import HashFunctions
public import Platform
public import SandboxModel

/// The signature of one program of a Mach-O file (xnu, osfmk/kern/cs_blobs.h; Apple, TN3126).
///
/// The signature is decoded, not verified: ``CodeSignature`` verifies ``cms``, and which code directories it covers.
public struct MachOSignature: Sendable {
    /// The bytes of the file that are the program.
    public let slice: Range<Int64>
    /// The signed code directory, then those with other hash functions, in the order of their slots.
    public let codeDirectories: [CodeDirectory]
    /// The other blobs, whole, by slot: 2 requirements, 5 entitlements, 7 entitlements in DER, and any others.
    public let blobs: [UInt32: [UInt8]]
    /// The detached CMS signature over the first code directory; empty in an ad hoc signature.
    public let cms: [UInt8]

    /// Reasons for which a file's signatures cannot be read.
    public enum ReadError: Error, Hashable, Sendable {
        case notMachO
        /// A program of the file has no signature.
        case unsigned
        case malformed(SealFault)
        case unreadable(SystemError)

        static func malformed(_ reason: String) -> ReadError { .malformed(SealFault(reason)) }
    }

    /// The first slot that is no special slot of a code directory.
    private static let firstAlternate: UInt32 = 0x1000

    /// Whether the special slots of a code directory agree with the blobs of the signature: each blob has its hash
    /// there, and each hash its blob. The slots of Info.plist and CodeResources are hashes of files, which the caller
    /// checks.
    public func blobSlotsAgree(with directory: CodeDirectory) -> Bool {
        for (slot, blob) in blobs where slot < MachOSignature.firstAlternate {
            guard let hash = directory.special(Int(slot)), hash == directory.digest(of: blob) else { return false }
        }
        guard directory.specialSlots > 0 else { return true }
        return (1...directory.specialSlots).allSatisfy { slot in
            slot == CodeDirectory.infoSlot || slot == CodeDirectory.resourcesSlot || blobs[UInt32(slot)] != nil
                || directory.special(slot) == nil
        }
    }

    /// Compares the pages of the code with their hashes.
    /// - Parameters:
    ///   - directory: one of ``codeDirectories``.
    ///   - progress: called with the number of further bytes read; false cancels.
    /// - Returns: the index of the first page that differs; nil if none does.
    /// - Throws: ECANCELED when cancelled.
    public func firstChangedPage(
        of directory: CodeDirectory, in file: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Int? {
        let limit = Int64(directory.codeLimit)
        let pageSize = directory.pageSize.map { Int64($0) } ?? limit
        // The slice may be shorter than the code directory says.
        let end = min(limit, slice.upperBound - slice.lowerBound)
        let buffer = PageBuffer(count: Int(min(end, 1 << 20)))
        var digest = MessageDigest(directory.hash)
        // A page may span two reads, and a read may hold many pages. `missing` is what the page lacks, in bytes.
        var (page, offset) = (0, Int64(0))
        var missing = min(pageSize, limit)
        while offset < end {
            let wanted = Int(min(Int64(buffer.count), end - offset))
            let got = try file.read(into: buffer, count: wanted, from: slice.lowerBound + offset)
            var start = 0
            while start < got {
                let count = Int(min(missing, Int64(got - start)))
                digest.update(buffer, at: start, count: count)
                start += count
                missing -= Int64(count)
                guard missing == 0 else { break }
                guard directory.cut(digest.finish()) == directory.codeHash(page) else { return page }
                page += 1
                missing = min(pageSize, limit - offset - Int64(start))
            }
            offset += Int64(got)
            // A short read: the file ends within the page.
            guard got == wanted else { return page }
            guard progress(Int64(got)) else { throw SystemError(code: ECANCELED) }
        }
        return offset == limit ? nil : page
    }
}
