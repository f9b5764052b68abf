// Space accounting: removal of a name, and retries when there is no space.

import BackingStore
import Foundation
import Platform
import SandboxModel
import Synchronization
import Testing

@testable import ContainerVolume

@Suite("Counting entries in the space ledger")
struct SpaceAccountingTests {
    private let parts: VolumeParts
    private let accounting: SpaceAccounting
    private var space: SpaceLedger { parts.home.context.space }

    init() throws {
        parts = try VolumeParts()
        accounting = SpaceAccounting(space: parts.home.context.space, openFiles: parts.openFiles)
    }

    @Test("A closed file is subtracted with its last name, an open one when it is closed")
    func removal() throws {
        for isOpen in [false, true] {
            let file = try parts.file("Documents/file")
            let directory = try parts.places.directory(file.parent!)
            let before = space.used
            accounting.recordNew(try directory.descriptor.status(of: "file"))
            #expect(space.used > before)
            if isOpen { _ = try parts.openFiles.open(file, writing: false) }
            let removed = try RemovedName("file", in: file.parent!, directory, of: parts.openFiles)
            #expect(removed.node === file && removed.isLast && removed.others.isEmpty)
            try directory.descriptor.removeFile("file")
            #expect(removed.removeName("file", in: file.parent!, from: parts.table).isEmpty)
            #expect(file.parent == nil && file.rare?.orphan === removed.descriptor)
            accounting.recordRemoval(removed)
            if isOpen {
                #expect(space.used > before)
                parts.openFiles.close(file, writing: false)
            }
            #expect(space.used == before)
        }
    }

    @Test("A call is made again only while a purge releases space, and for no other error")
    func retries() throws {
        let relief = Relief(times: 2)
        space.reliever = relief
        var calls = 0
        let value = try space.retrying { () throws(Fault) in
            calls += 1
            if calls < 3 { throw .errno(ENOSPC) }
            return calls
        }
        #expect(value == 3)
        #expect(throws: Fault.errno(ENOSPC)) {
            try space.retrying { () throws(Fault) in throw .errno(ENOSPC) }
        }
        calls = 0
        #expect(throws: Fault.errno(EIO)) {
            try space.retrying { () throws(Fault) in
                calls += 1
                throw .errno(EIO)
            }
        }
        #expect(calls == 1)
    }

    /// Claims to have released space, so many times.
    private final class Relief: SpaceRelief {
        private let left: Mutex<Int>
        init(times: Int) { left = Mutex(times) }
        var purgeable: Int64 { 0 }
        func spaceIsLow() {}
        func makeSpace(for bytes: Int64) -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }
}
