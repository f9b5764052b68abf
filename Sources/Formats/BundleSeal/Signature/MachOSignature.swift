// The signature inside of a program, and whether the program still is what it was made over.

import Glibc
import HashFunctions
public import Platform
public import SandboxModel

/// The signature of one program of a Mach-O file (xnu, osfmk/kern/cs_blobs.h; Apple, TN3126).
///
/// Read here is only what it says. Who signed it, and which of its code directories are bound to that, is for the
/// reader of ``cms``.
public struct MachOSignature: Sendable {
    /// Where the program lies in the file.
    public let slice: Range<Int64>
    /// The one that the signature is over, and then those with other hash functions, in the order of their slots.
    public let codeDirectories: [CodeDirectory]
    /// The other blobs as a whole, by slot: 2 requirements, 5 entitlements, 7 the same in DER, and what else there is.
    public let blobs: [UInt32: [UInt8]]
    /// A CMS message without content over the first code directory; empty when nobody signed.
    public let cms: [UInt8]

    /// Why there are no signatures of a file.
    public enum Absence: Error, Hashable, Sendable {
        case notMachO
        /// A program of the file has no signature.
        case unsigned
        case malformed(SealFault)
        case unreadable(SystemError)

        static func malformed(_ reason: String) -> Absence { .malformed(SealFault(reason)) }
    }

    /// Slots from here on are not special slots of a code directory.
    private static let firstAlternate: UInt32 = 0x1000

    /// Whether the special slots of a code directory agree with the blobs of the signature: each has its hash there,
    /// and none is missing. The slots of Info.plist and CodeResources are hashes of files, which are the caller's to
    /// check.
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
    ///   - progress: told how many bytes more are read; false ends it.
    /// - Returns: the first page that is not what it was; nil when all are.
    /// - Throws: ECANCELED when `progress` ended it.
    public func firstChangedPage(
        of directory: CodeDirectory, in file: borrowing Descriptor, progress: (Int64) -> Bool
    ) throws(SystemError) -> Int? {
        let limit = Int64(directory.codeLimit)
        let pageSize = directory.pageSize.map { Int64($0) } ?? limit
        // What the slice does not have cannot be compared.
        let end = min(limit, slice.upperBound - slice.lowerBound)
        let buffer = PageBuffer(count: Int(min(end, 1 << 20)))
        var digest = MessageDigest(directory.hash)
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
            // The file ends within the page.
            guard got == wanted else { return page }
            guard progress(Int64(got)) else { throw SystemError(code: ECANCELED) }
        }
        return offset == limit ? nil : page
    }
}
