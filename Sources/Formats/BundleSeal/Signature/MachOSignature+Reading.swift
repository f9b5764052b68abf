// Signatures from files.

public import Platform

extension MachOSignature {
    /// More than the signature of any program has: a gigabyte of code takes 13 MiB.
    private static let largestSignatures: Int64 = 64 << 20
    private static let mostBlobs = 64
    /// The slot of the CMS message, and the magic number of the blob around it.
    private static let cmsSlot: UInt32 = 0x10000
    /// The magic numbers that blobs in these slots have.
    private static let magics: [UInt32: UInt32] = [
        2: 0xFADE_0C01, 5: 0xFADE_7171, 7: 0xFADE_7172, cmsSlot: 0xFADE_0B01,
    ]

    /// The signatures of all programs of a file, in the order of its header.
    ///
    /// The code of each ends where its signature begins, and the signature where the program ends. The bytes of a
    /// signature that belong to none of its blobs are not looked at: linkers and signers leave room there.
    public static func read(from file: borrowing Descriptor) throws(Absence) -> [MachOSignature] {
        var left = largestSignatures
        var signatures: [MachOSignature] = []
        for image in try MachOImage.images(of: file) {
            signatures.append(try MachOSignature(image, of: file, left: &left))
        }
        return signatures
    }

    /// - Parameter left: how many bytes of signatures may still be read.
    private init(_ image: MachOImage, of file: borrowing Descriptor, left: inout Int64) throws(Absence) {
        var (directories, others, cms) = ([CodeDirectory](), [UInt32: [UInt8]](), [UInt8]())
        for (slot, range) in try MachOSignature.index(of: image.signature, in: file, left: &left) {
            let blob = try file.piece(range)
            switch slot {
            case 0, MachOSignature.alternates:
                let directory: CodeDirectory
                do throws(SealFault) { directory = try CodeDirectory(decoding: blob) } catch { throw .malformed(error) }
                // Bytes between the two would be sealed by nobody.
                guard directory.codeLimit == UInt64(image.signature.lowerBound - image.slice.lowerBound) else {
                    throw .malformed("the code directory does not end where the signature begins")
                }
                directories.append(directory)
            case MachOSignature.cmsSlot: cms = Array(blob.dropFirst(8))
            default: others[slot] = blob
            }
        }
        slice = image.slice
        codeDirectories = directories
        blobs = others
        self.cms = cms
    }

    /// CSSLOT_ALTERNATE_CODEDIRECTORIES, of which there are five.
    private static let alternates: ClosedRange<UInt32> = 0x1000...0x1004

    /// The blobs of an embedded signature, the first code directory first.
    private static func index(
        of signature: Range<Int64>, in file: borrowing Descriptor, left: inout Int64
    ) throws(Absence) -> [(slot: UInt32, range: Range<Int64>)] {
        let start = signature.lowerBound
        guard signature.upperBound - start >= 12 else { throw .malformed("the signature is cut short") }
        let header = try file.piece(start..<start + 12)
        guard header.word(at: 0) == 0xFADE_0CC0 else {
            throw .malformed("the signature does not begin with its magic number")
        }
        let (length, count) = (Int64(header.word(at: 4)), Int64(header.word(at: 8)))
        guard length <= signature.upperBound - start else { throw .malformed("the signature is cut short") }
        left -= length
        guard left >= 0 else { throw .malformed("the signature is too long") }
        guard count <= mostBlobs else { throw .malformed("the signature has too many blobs") }
        let first = 12 + count * 8
        guard first <= length else { throw .malformed("the signature is cut short") }
        let table = try file.piece(start + 12..<start + first)

        var blobs: [(slot: UInt32, range: Range<Int64>)] = []
        for entry in stride(from: 0, to: table.count, by: 8) {
            let (slot, offset) = (table.word(at: entry), Int64(table.word(at: entry + 4)))
            guard !blobs.contains(where: { $0.slot == slot }) else {
                throw .malformed("two blobs of the signature have the same slot")
            }
            guard offset >= first, offset <= length - 8 else {
                throw .malformed("a blob lies outside of the signature")
            }
            let head = try file.piece(start + offset..<start + offset + 8)
            let size = Int64(head.word(at: 4))
            guard size >= 8, size <= length - offset else { throw .malformed("a blob lies outside of the signature") }
            if let magic = magics[slot], magic != head.word(at: 0) {
                throw .malformed("a blob of the signature does not begin with its magic number")
            }
            blobs.append((slot, start + offset..<start + offset + size))
        }
        // Else the same bytes could be read many times.
        var end = start
        for blob in blobs.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            guard blob.range.lowerBound >= end else { throw .malformed("blobs of the signature overlap") }
            end = blob.range.upperBound
        }
        blobs.sort { $0.slot < $1.slot }
        guard blobs.first?.slot == 0 else { throw .malformed("the signature has no code directory") }
        return blobs
    }
}
