// Damage done to every file of a directory, one byte or one cut at a time.

import Foundation
import TestSupport

enum Damage {
    /// Calls the body with each file changed in one place and cut at one, many times, and puts it right again.
    /// - Parameter changes: to each file, spread over it.
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
