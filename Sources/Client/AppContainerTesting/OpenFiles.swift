// Open descriptors and mappings of this process below a directory, by proc(5).

import Foundation

enum OpenFiles {
    /// The paths below `directory` that this process has open or mapped, each once.
    static func below(_ directory: String) -> [String] {
        let prefix = directory + "/"
        let files = FileManager.default
        var paths: Set<String> = []
        for number in (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            guard let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else { continue }
            if target.hasPrefix(prefix) { paths.insert(target) }
        }
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        for line in maps.split(separator: "\n") {
            guard let start = line.firstRange(of: prefix)?.lowerBound else { continue }
            paths.insert(String(line[start...]))
        }
        return paths.sorted()
    }
}
