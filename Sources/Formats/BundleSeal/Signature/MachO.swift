// The ranges of programs and signatures in a Mach-O file, universal or not.

import Platform
import SandboxModel

/// One program of a Mach-O file (Apple, mach-o/loader.h and mach-o/fat.h).
struct MachOImage: Sendable {
    /// The bytes of the file that are the program.
    let slice: Range<Int64>
    /// The bytes of the file that are its signature: the end of the slice.
    let signature: Range<Int64>

    /// The limit of the load commands in bytes; real ones take a few kilobytes.
    private static let largestCommands = 4 << 20
    /// The limit of slices. A Java class file begins with the magic number of a fat file, and then has a version of at
    /// least 45 where a fat file has the number of slices.
    private static let mostSlices = 42
    /// The limit in bytes of the padding before a slice, which begins at a multiple of a page.
    private static let largestGap: Int64 = 1 << 20

    /// The programs of a file, in the order of its header.
    ///
    /// Every byte of the file belongs to a program, or is zero and lies between two: no byte is left uncovered by a
    /// signature.
    static func images(of file: borrowing Descriptor) throws(MachOSignature.ReadError) -> [MachOImage] {
        let size: Int64
        do throws(SystemError) { size = try file.status().size } catch { throw .unreadable(error) }
        guard size >= 8 else { throw .notMachO }
        let start = try file.piece(0..<8)
        let wide: Bool
        switch start.word(at: 0) {
        case 0xCAFE_BABE: wide = false
        case 0xCAFE_BABF: wide = true
        default:
            guard let shape = Shape(magic: start) else { throw .notMachO }
            return [try MachOImage(slice: 0..<size, shape, of: file)]
        }
        let count = start.word(at: 4)
        guard count <= mostSlices else { throw .notMachO }
        var images: [MachOImage] = []
        for slice in try slices(Int(count), wide: wide, of: file, size: size) {
            guard slice.upperBound - slice.lowerBound >= 8,
                let shape = Shape(magic: try file.piece(slice.lowerBound..<slice.lowerBound + 8))
            else { throw .malformed("a slice of the file is not a Mach-O program") }
            images.append(try MachOImage(slice: slice, shape, of: file))
        }
        return images
    }

    /// Reads the table of a fat file, `fat_arch` or, if wide, `fat_arch_64`. It is big-endian for every architecture.
    private static func slices(
        _ count: Int, wide: Bool, of file: borrowing Descriptor, size: Int64
    ) throws(MachOSignature.ReadError) -> [Range<Int64>] {
        let length = wide ? 32 : 20
        let end = Int64(8 + count * length)
        guard count > 0, end <= size else { throw .malformed("the table of slices is cut short") }
        let table = try file.piece(8..<end)
        var slices: [Range<Int64>] = []
        for entry in stride(from: 0, to: table.count, by: length) {
            let offset = wide ? table.longWord(at: entry + 8) : UInt64(table.word(at: entry + 8))
            let count = wide ? table.longWord(at: entry + 16) : UInt64(table.word(at: entry + 12))
            guard offset >= UInt64(end), offset <= UInt64(size), count > 0, count <= UInt64(size) - offset else {
                throw .malformed("a slice of the file lies outside of it")
            }
            slices.append(Int64(offset)..<Int64(offset + count))
        }
        var covered = end
        for slice in slices.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard slice.lowerBound >= covered else { throw .malformed("slices of the file overlap") }
            // Without a limit, reading the hole of a huge sparse file would take too long.
            guard slice.lowerBound - covered <= largestGap else { throw .malformed("slices of the file are far apart") }
            guard try file.isZero(covered..<slice.lowerBound) else {
                throw .malformed("something lies between the slices of the file")
            }
            covered = slice.upperBound
        }
        guard covered == size else { throw .malformed("something follows the last slice of the file") }
        return slices
    }

    /// Byte order and size of the header, by the magic number.
    private struct Shape {
        let order: ByteOrder
        let headerSize: Int64

        init?(magic bytes: [UInt8]) {
            switch bytes.word(at: 0) {
            case 0xFEED_FACE: (order, headerSize) = (.big, 28)
            case 0xFEED_FACF: (order, headerSize) = (.big, 32)
            case 0xCEFA_EDFE: (order, headerSize) = (.little, 28)
            case 0xCFFA_EDFE: (order, headerSize) = (.little, 32)
            default: return nil
            }
        }
    }

    /// Finds the signature by the load command LC_CODE_SIGNATURE.
    private init(
        slice: Range<Int64>, _ shape: Shape, of file: borrowing Descriptor
    ) throws(MachOSignature.ReadError) {
        let (size, order) = (slice.upperBound - slice.lowerBound, shape.order)
        guard size >= shape.headerSize else { throw .malformed("the Mach-O header is cut short") }
        let header = try file.piece(slice.lowerBound..<slice.lowerBound + shape.headerSize)
        let count = Int(header.word(at: 16, order))
        let length = Int64(header.word(at: 20, order))
        guard length <= MachOImage.largestCommands else { throw .malformed("the load commands are too long") }
        let end = shape.headerSize + length
        guard end <= size else { throw .malformed("the load commands are cut short") }
        let commands = try file.piece(slice.lowerBound + shape.headerSize..<slice.lowerBound + end)

        var found: Range<Int64>?
        var offset = 0
        for _ in 0..<count {
            guard commands.count - offset >= 8 else { throw .malformed("the load commands are cut short") }
            let length = Int(commands.word(at: offset + 4, order))
            guard length >= 8, length <= commands.count - offset else {
                throw .malformed("a load command has a length that is not possible")
            }
            // LC_CODE_SIGNATURE
            if commands.word(at: offset, order) == 0x1D {
                guard length == 16 else { throw .malformed("a load command has a length that is not possible") }
                guard found == nil else { throw .malformed("the program has two signatures") }
                let start = Int64(commands.word(at: offset + 8, order))
                found = start..<start + Int64(commands.word(at: offset + 12, order))
            }
            offset += length
        }
        guard let found else { throw .unsigned }
        guard found.lowerBound >= end, found.upperBound <= size else {
            throw .malformed("the signature lies outside of the program")
        }
        // Bytes after the signature would be covered by no page hash.
        guard found.upperBound == size else { throw .malformed("something follows the signature of the program") }
        self.slice = slice
        signature = slice.lowerBound + found.lowerBound..<slice.upperBound
    }
}

extension Descriptor {
    /// Reads a range, whose length the caller has limited.
    borrowing func piece(_ range: Range<Int64>) throws(MachOSignature.ReadError) -> [UInt8] {
        let buffer = PageBuffer(count: Int(min(range.upperBound - range.lowerBound, 1 << 18)))
        var bytes: [UInt8] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = try fill(buffer, from: offset..<range.upperBound)
            bytes += buffer.bytes(0, count: count)
            offset += Int64(count)
        }
        return bytes
    }

    /// Whether all bytes of a range are zero.
    borrowing func isZero(_ range: Range<Int64>) throws(MachOSignature.ReadError) -> Bool {
        let buffer = PageBuffer(count: 1 << 16)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = try fill(buffer, from: offset..<range.upperBound)
            guard buffer.isZero(0, count: count) else { return false }
            offset += Int64(count)
        }
        return true
    }

    /// Reads as much of a range as fits into the buffer.
    /// - Returns: the number of bytes.
    private borrowing func fill(
        _ buffer: PageBuffer, from range: Range<Int64>
    ) throws(MachOSignature.ReadError) -> Int {
        let wanted = Int(min(Int64(buffer.count), range.upperBound - range.lowerBound))
        let got: Int
        do throws(SystemError) {
            got = try read(into: buffer, count: wanted, from: range.lowerBound)
        } catch {
            throw .unreadable(error)
        }
        guard got == wanted else { throw .malformed("the file became shorter while it was read") }
        return got
    }
}
