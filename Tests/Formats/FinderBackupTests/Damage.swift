// Damage to every file of a directory: one changed byte or one cut at a time.

import Foundation
import TestSupport

enum Damage {
    /// Calls the body for each file, many times, with one byte changed and with the end cut off, and repairs the file.
    /// - Parameter changes: the number of changes of each file, spread over it.
    static func forEach(in directory: String, changes: Int, _ body: () throws -> Void) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory).sorted()
        var generator = SeededGenerator(seed: 4)
        for name in names {
            let url = URL(filePath: directory + "/" + name)
            guard let whole = try? Data(contentsOf: url), !whole.isEmpty else { continue }
            for step in 0..<min(changes, whole.count) {
                let place = step * whole.count / min(changes, whole.count)
                var changed = whole
                changed[place] ^= UInt8(1 << (generator.next() % 8))
                try changed.write(to: url)
                try body()
                if step % 4 == 0 {
                    try whole.prefix(place).write(to: url)
                    try body()
                }
            }
            try whole.write(to: url)
        }
    }
}
