// The library directories in an executable: DT_RUNPATH and DT_RPATH of ELF (elf(5)).

import Glibc
public import SandboxModel

/// The library directories of a 64-bit little-endian ELF file; none for other files. The numbers below are offsets in
/// Elf64_Ehdr, Elf64_Phdr and Elf64_Dyn of elf(5).
///
/// Each number in the file may be anything: sums of them are checked, and the work is bounded by the limits below.
public struct ExecutableRunPath {
    /// Absolute paths only: `$ORIGIN` is in the app's own bundle, which is visible anyway.
    public private(set) var directories: [String] = []

    /// Bytes of an Elf64_Phdr.
    private static let programHeaderSize = 56
    /// The limit in bytes of a dynamic segment: thousands of entries.
    private static let largestTable: UInt64 = 1 << 20
    /// The limit in bytes of a search path, and on the number of search paths and of their directories.
    private static let longestPath: UInt64 = 16 << 10
    private static let mostPaths = 4
    private static let mostDirectories = 64

    /// Reads an executable. A file that is no such ELF file, or cannot be read, has no directories.
    /// - Throws: ENOEXEC for an ELF file that contradicts itself: a table of it lies outside the file.
    public init(of path: String) throws(SystemError) {
        // A fifo would keep the caller waiting.
        guard let file = try? SharedDescriptor(Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
            (try? file.descriptor.status().kind) == .file,
            let header = ExecutableRunPath.bytes(of: file, at: 0, count: 64),
            // ELFMAG, then ELFCLASS64 and ELFDATA2LSB.
            header.starts(with: [0x7F, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F"), 2, 1])
        else { return }
        // e_phentsize, e_phnum and e_phoff.
        guard header.number(at: 54, size: 2) == ExecutableRunPath.programHeaderSize,
            let segments = ExecutableRunPath.bytes(
                of: file, at: header.number(at: 32, size: 8),
                count: header.number(at: 56, size: 2) * UInt64(ExecutableRunPath.programHeaderSize))
        else { throw .notExecutable }
        let paths = try ExecutableRunPath.paths(in: file, segments: segments)
        directories = Array(
            paths.flatMap { $0.split(separator: ":").map(String.init) }.filter { $0.hasPrefix("/") }
                .prefix(ExecutableRunPath.mostDirectories))
    }

    /// A PT_LOAD segment: a part of the file, and its address in memory.
    private struct Segment {
        let address, offset, size: UInt64

        /// The place in the file of an address; nil for one outside the segment.
        func offset(of place: UInt64) -> UInt64? {
            guard address <= place, place - address < size else { return nil }
            let (sum, isOut) = offset.addingReportingOverflow(place - address)
            return isOut ? nil : sum
        }
    }

    /// The search paths in the dynamic segment.
    /// - Parameter segments: the table of Elf64_Phdr.
    private static func paths(in file: SharedDescriptor, segments: [UInt8]) throws(SystemError) -> [String] {
        var loaded: [Segment] = []
        var dynamic: [UInt8] = []
        for start in stride(from: 0, to: segments.count, by: programHeaderSize) {
            let (offset, address) = (segments.number(at: start + 8, size: 8), segments.number(at: start + 16, size: 8))
            let size = segments.number(at: start + 32, size: 8)
            // PT_LOAD, PT_DYNAMIC.
            switch segments.number(at: start, size: 4) {
            case 1: loaded.append(Segment(address: address, offset: offset, size: size))
            case 2 where size > 0:
                guard size <= largestTable, let table = bytes(of: file, at: offset, count: size) else {
                    throw .notExecutable
                }
                dynamic = table
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
            case 15, 29: if names.count < mostPaths { names.append(value) }
            default: break
            }
        }
        guard !names.isEmpty else { return [] }
        // DT_STRTAB is an address in memory: the segment that is loaded there tells the place in the file.
        guard let strings = loaded.lazy.compactMap({ $0.offset(of: table) }).first else { throw .notExecutable }
        return try names.map { (start) throws(SystemError) in
            let (place, isOut) = strings.addingReportingOverflow(start)
            guard start < length, !isOut,
                let text = bytes(of: file, at: place, count: min(length - start, longestPath))
            else { throw .notExecutable }
            return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Reads so many bytes; nil if the file has fewer.
    private static func bytes(of file: SharedDescriptor, at offset: UInt64, count: UInt64) -> [UInt8]? {
        guard offset < 1 << 62, (1...largestTable * 4).contains(count) else { return nil }
        let count = Int(count)
        let buffer = PageBuffer(count: count)
        guard (try? file.descriptor.read(into: buffer, count: count, from: Int64(offset))) == count else { return nil }
        return buffer.bytes(0, count: count)
    }
}

extension SystemError {
    /// ENOEXEC: not in a format that can be executed.
    fileprivate static let notExecutable = SystemError(code: ENOEXEC)
}

extension [UInt8] {
    /// A little-endian integer.
    fileprivate func number(at start: Int, size: Int) -> UInt64 {
        self[start..<start + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
