// The model of a file's content that tests compare an encrypted file with.

import Platform
import SandboxModel
import TestSupport

@testable import BackingStore

/// The expected content: an array of bytes.
struct ContentModel {
    var bytes: [UInt8] = []

    /// A change that both the model and a file can apply.
    enum Change: CustomStringConvertible {
        case write(at: Int, [UInt8])
        case truncate(Int)
        case zero(at: Int, count: Int, releasing: Bool)
        case allocate(at: Int, count: Int, extending: Bool)

        var description: String {
            switch self {
            case .write(let offset, let bytes): "write \(bytes.count) at \(offset)"
            case .truncate(let length): "truncate to \(length)"
            case .zero(let offset, let count, let releasing): "zero \(count) at \(offset) releasing \(releasing)"
            case .allocate(let offset, let count, let extending): "allocate \(count) at \(offset) \(extending)"
            }
        }
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .write(let offset, let new):
            grow(to: offset + new.count)
            bytes.overwrite(from: offset, with: new)
        case .truncate(let length):
            if length < bytes.count { bytes.removeSubrange(length...) }
            grow(to: length)
        case .zero(let offset, let count, _):
            bytes.clear(min(offset, bytes.count)..<min(offset + count, bytes.count))
        case .allocate(let offset, let count, let extending):
            if extending { grow(to: offset + count) }
        }
    }

    private mutating func grow(to length: Int) {
        if length > bytes.count { bytes += [UInt8](repeating: 0, count: length - bytes.count) }
    }

    /// A change near a boundary as often as anywhere.
    static func random(_ generator: inout SeededGenerator, largest: Int) -> Change {
        func position() -> Int {
            let edges = [0, 4096, 8192, 262_144, 266_240, 524_288]
            let near = edges.randomElement(using: &generator)! + Int.random(in: -2...2, using: &generator)
            return Bool.random(using: &generator)
                ? Int.random(in: 0..<largest, using: &generator) : min(max(near, 0), largest)
        }
        let size = [1, 64, 4096, 5000, 70_000, 300_000].randomElement(using: &generator)!
        let count = Int.random(in: 1...size, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return .truncate(position())
        case 1: return .zero(at: position(), count: count, releasing: true)
        case 2: return .zero(at: position(), count: count, releasing: false)
        case 3: return .allocate(at: position(), count: count, extending: Bool.random(using: &generator))
        default: return .write(at: position(), generator.bytes(count))
        }
    }
}

extension EncryptedFile {
    func apply(_ change: ContentModel.Change) throws(Fault) {
        switch change {
        case .write(let offset, let bytes): try unsafe write(bytes.span.bytes, at: Int64(offset))
        case .truncate(let length): try truncate(to: Int64(length))
        case .zero(let offset, let count, let releasing):
            try zero(Int64(offset), count: Int64(count), releasing: releasing)
        case .allocate(let offset, let count, let extending):
            try allocate(Int64(offset), count: Int64(count), extending: extending)
        }
    }
}
