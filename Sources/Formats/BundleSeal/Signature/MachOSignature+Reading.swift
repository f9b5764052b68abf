// Decoding of the signatures of a Mach-O file (CS_SuperBlob in xnu, osfmk/kern/cs_blobs.h).

public import Platform

extension MachOSignature {
    /// The limit in bytes of all signatures of a file: a gigabyte of code needs 13 MiB.
    private static let largestSignatures: Int64 = 64 << 20
    private static let mostBlobs = 64
    /// CSSLOT_SIGNATURESLOT, of the CMS signature.
    private static let cmsSlot: UInt32 = 0x10000
    /// The magic numbers that the blobs of these slots must have.
    private static let magics: [UInt32: UInt32] = [
        2: 0xFADE_0C01, 5: 0xFADE_7171, 7: 0xFADE_7172, cmsSlot: 0xFADE_0B01,
    ]

    /// Reads the signatures of all programs of a file, in the order of its header.
    ///
    /// The code of a program ends where its signature begins, and the signature ends with the program. Bytes of a
    /// signature outside its blobs are ignored: linkers and signers reserve space there.
    public static func read(from file: borrowing Descriptor) throws(ReadError) -> [MachOSignature] {
        var left = largestSignatures
        var signatures: [MachOSignature] = []
        for image in try MachOImage.images(of: file) {
            signatures.append(try MachOSignature(image, of: file, left: &left))
        }
        return signatures
    }

    /// Reads the signature of one program.
    /// - Parameter left: the bytes of signatures that may still be read, of ``largestSignatures``.
    private init(_ image: MachOImage, of file: borrowing Descriptor, left: inout Int64) throws(ReadError) {
        var (directories, others, cms) = ([CodeDirectory](), [UInt32: [UInt8]](), [UInt8]())
        for (slot, range) in try MachOSignature.index(of: image.signature, in: file, left: &left) {
            let blob = try file.piece(range)
            switch slot {
            case 0, MachOSignature.alternates:
                let directory: CodeDirectory
                do throws(SealFault) { directory = try CodeDirectory(decoding: blob) } catch { throw .malformed(error) }
                // Bytes between code and signature would be covered by no hash.
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

    /// The five slots from CSSLOT_ALTERNATE_CODEDIRECTORIES on.
    private static let alternates: ClosedRange<UInt32> = 0x1000...0x1004

    /// Reads the index of an embedded signature: its blobs by slot, the first code directory first.
    private static func index(
        of signature: Range<Int64>, in file: borrowing Descriptor, left: inout Int64
    ) throws(ReadError) -> [(slot: UInt32, range: Range<Int64>)] {
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
        // Overlapping blobs would have the same bytes read many times.
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
