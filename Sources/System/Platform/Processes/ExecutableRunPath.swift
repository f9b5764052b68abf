// The library directories in an executable: DT_RUNPATH and DT_RPATH of ELF (elf(5)).

import Glibc
import SandboxModel

/// The library directories of a 64-bit little-endian ELF file; none for other files. The numbers below are offsets in
/// Elf64_Ehdr, Elf64_Phdr and Elf64_Dyn of elf(5).
public struct ExecutableRunPath {
    /// Absolute paths only: `$ORIGIN` is in the app's own bundle, which is visible anyway.
    public private(set) var directories: [String] = []

    /// Bytes of an Elf64_Phdr.
    private static let programHeaderSize = 56
    /// The limit in bytes of a table that is read.
    private static let largestTable = 1 << 20

    /// Reads an executable. A file that is no such ELF file, or cannot be read, has no directories.
    public init(of path: String) {
        guard let file = try? SharedDescriptor(Descriptor.open(path: path, flags: O_RDONLY | O_CLOEXEC)),
            let header = ExecutableRunPath.bytes(of: file, at: 0, count: 64),
            // ELFMAG, then ELFCLASS64 and ELFDATA2LSB.
            header.starts(with: [0x7F, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F"), 2, 1]),
            // e_phentsize, e_phoff and e_phnum.
            Int(header.number(at: 54, size: 2)) == ExecutableRunPath.programHeaderSize,
            let segments = ExecutableRunPath.bytes(
                of: file, at: header.number(at: 32, size: 8),
                count: Int(header.number(at: 56, size: 2)) * ExecutableRunPath.programHeaderSize)
        else { return }
        directories = ExecutableRunPath.paths(in: file, segments: segments)
            .flatMap { $0.split(separator: ":").map(String.init) }
            .filter { $0.hasPrefix("/") }
    }

    /// The search paths in the dynamic segment.
    /// - Parameter segments: the table of Elf64_Phdr.
    private static func paths(in file: SharedDescriptor, segments: [UInt8]) -> [String] {
        var loaded: [(address: UInt64, offset: UInt64, size: UInt64)] = []
        var dynamic: [UInt8] = []
        for start in stride(from: 0, to: segments.count, by: programHeaderSize) {
            let (offset, address) = (segments.number(at: start + 8, size: 8), segments.number(at: start + 16, size: 8))
            let size = segments.number(at: start + 32, size: 8)
            // PT_LOAD, PT_DYNAMIC.
            switch segments.number(at: start, size: 4) {
            case 1: loaded.append((address, offset, size))
            case 2 where size <= largestTable: dynamic = bytes(of: file, at: offset, count: Int(size)) ?? []
            default: break
            }
        }
        // Offsets of the search paths in the string table, which may come later than they do.
        var names: [UInt64] = []
        var (table, length) = (UInt64(0), UInt64(0))
        for start in stride(from: 0, to: dynamic.count - 15, by: 16) {
            let value = dynamic.number(at: start + 8, size: 8)
            // DT_STRTAB, DT_STRSZ, DT_RPATH and DT_RUNPATH.
            switch dynamic.number(at: start, size: 8) {
            case 5: table = value
            case 10: length = value
            case 15, 29: names.append(value)
            default: break
            }
        }
        // DT_STRTAB is an address in memory: the segment that is loaded there tells the place in the file.
        guard !names.isEmpty, length <= largestTable,
            let segment = loaded.first(where: { $0.address <= table && table - $0.address < $0.size }),
            let strings = bytes(of: file, at: segment.offset + (table - segment.address), count: Int(length))
        else { return [] }
        return names.filter { $0 < length }.map { start in
            String(decoding: strings[Int(start)...].prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Reads so many bytes; nil if the file has fewer.
    private static func bytes(of file: SharedDescriptor, at offset: UInt64, count: Int) -> [UInt8]? {
        guard offset < 1 << 62, count > 0 else { return nil }
        let buffer = PageBuffer(count: count)
        guard (try? file.descriptor.read(into: buffer, count: count, from: Int64(offset))) == count else { return nil }
        return buffer.bytes(0, count: count)
    }
}

extension [UInt8] {
    /// A little-endian integer.
    fileprivate func number(at start: Int, size: Int) -> UInt64 {
        self[start..<start + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
