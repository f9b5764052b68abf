// A backing file whose pages hold any fields at all under a valid seal: an attacker who has the device's keys.

import DataProtection
import Glibc
import Platform
import SandboxModel

@testable import BackingStore

/// A backing file with chosen pages.
struct StoredContent {
    private static let keys = Keybag.create(passcode: nil, uidKey: UIDKey()).1
    /// Offsets of the wrapped key and the identity in the header, without which nothing is read.
    private static let kept = 64..<160

    private let file: SharedDescriptor
    private var choices: Choices

    static func makeContext() -> StoreContext {
        StoreContext(keys: keys, history: SessionHistory(current: 3, killed: [1], powerLost: [2])) { _ in }
    }

    init(_ choices: Choices) throws {
        self.choices = choices
        file = SharedDescriptor(try openFile([]))
        let content = try EncryptedFile.create(
            file, protection: .standard, context: StoredContent.makeContext()
        ).file
        for index in 0..<self.choices.number(below: 4) {
            let bytes = self.choices.bytes(atMost: 64)
            if !bytes.isEmpty { _ = try unsafe content.write(bytes.span.bytes, at: Int64(index) * 300_000) }
        }
        try content.withWorkspace { workspace throws(Fault) in
            for _ in 0...self.choices.number(below: 3) { try changePage(of: content, workspace) }
        }
        let end = Int64(self.choices.integer() & 0xF_FFFF)
        if self.choices.flag() { try file.descriptor.truncate(to: end) }
    }

    /// Changes fields of a page, and seals it again.
    private mutating func changePage(of content: EncryptedFile, _ workspace: Workspace) throws(Fault) {
        let isHeader = choices.flag()
        let page = ContentPage()
        if isHeader {
            page.bytes.copy(content.header.bytes.bytes(0, count: ContentPage.size), to: 0)
        } else {
            page.reset(choices.flag() ? .tags : .map, number: choices.number(below: 3))
        }
        for _ in 0..<choices.number(below: 24) {
            let offset = Int(choices.integer() % UInt64(ContentPage.size))
            let value = choices.byte()
            if !isHeader || !StoredContent.kept.contains(offset) { page.bytes.store(value, at: offset) }
        }
        if isHeader, choices.flag() { page.length = Int64(bitPattern: choices.integer()) }
        try content.writePage(page, workspace)
    }

    /// Opens the file and uses it. A block that does not open is an error, and nothing else happens.
    consuming func use() throws {
        let content = try EncryptedFile.open(file, isWritable: true, context: StoredContent.makeContext())
        require(content.length >= 0, "a file has a negative length")
        for offset in [0, content.length / 2, max(0, content.length - 5000)] {
            try? content.read(count: 10_000, from: offset) { _ in }
        }
        let bytes = choices.bytes(atMost: 100)
        if !bytes.isEmpty { _ = try unsafe content.write(bytes.span.bytes, at: Int64(choices.integer() & 0xF_FFFF)) }
        try content.truncate(to: Int64(choices.integer() & 0xF_FFFF))
        try content.synchronize(dataOnly: false)
    }
}
