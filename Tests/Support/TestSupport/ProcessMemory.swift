// Looks for a key in the memory of this process, as somebody with a dump of it would.

import Glibc

public enum ProcessMemory {
    /// Where the bytes occur in writable memory.
    /// - Parameter masked: each byte of what is looked for with all bits turned, so that looking makes no copy.
    public static func occurrences(masked: [UInt8]) -> Int {
        let maps = unsafe fopen("/proc/self/maps", "r")!
        defer { unsafe fclose(maps) }
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        var line = [CChar](repeating: 0, count: 4096)
        var regions: [(start: UInt, end: UInt)] = []
        while unsafe fgets(&line, 4096, maps) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let fields = text.split(separator: " ")
            let range = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if fields[1].hasPrefix("rw") { regions.append((range[0], range[1])) }
        }
        // Chunks overlap by a key's length. The window is wiped after each, so that it never counts itself.
        let window = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { unsafe window.deallocate() }
        var found = 0
        for region in regions {
            var address = region.start
            while address < region.end {
                let wanted = min(1 << 20, Int(region.end - address))
                let got = unsafe pread(memory, window, wanted, off_t(address))
                guard got >= masked.count else { break }
                found += unsafe count(of: masked, in: window, got)
                unsafe explicit_bzero(window, got)
                guard got == wanted, wanted == 1 << 20 else { break }
                address += UInt(wanted - masked.count + 1)
            }
        }
        return found
    }

    private static func count(of masked: [UInt8], in window: UnsafeMutableRawPointer, _ length: Int) -> Int {
        var found = 0
        var offset = 0
        while offset + masked.count <= length {
            let hit = unsafe memchr(window + offset, Int32(~masked[0]), length - offset - masked.count + 1)
            guard let hit = unsafe hit else { break }
            offset = unsafe UnsafeRawPointer(hit) - UnsafeRawPointer(window)
            var same = 1
            while same < masked.count,
                unsafe ~(window + offset).load(fromByteOffset: same, as: UInt8.self) == masked[same]
            {
                same += 1
            }
            if same == masked.count { found += 1 }
            offset += 1
        }
        return found
    }
}
