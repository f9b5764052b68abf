// Set-ID bits: shown as they were set, kept beside the backing file, and cleared by changes.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Testing

@Suite struct SetIDTests {
    private let home: TestHome
    private let volume: Volume
    private let documents: NodeID

    init() throws {
        home = try TestHome()
        volume = home.volume
        documents = try volume.node("Documents")
    }

    /// On the host, with the attribute.
    private func backing(_ name: String) throws -> (mode: mode_t, attribute: String?) {
        let file = try Descriptor.open(path: "\(home.directory)/data/Documents/\(name)", flags: nodeOnly)
        let value = try? AttributeHolder(file: file).value(of: NodeModes.attributeName)
        return (try file.status().permissions, value.map { String(decoding: $0, as: UTF8.self) })
    }

    // O_PATH of <fcntl.h>, which Glibc's module does not have.
    private let nodeOnly: Int32 = 0o10000000

    private func make(_ name: FileName, _ mode: FileMode) throws -> (Entry, Handle) {
        try volume.create(name, in: documents, mode: mode, flags: O_RDWR | O_EXCL, caller: TestHome.caller)
    }

    private func change(_ mode: FileMode, of node: NodeID) throws -> FileStatus {
        var change = FileStatusChange()
        change.mode = mode
        return try volume.changeStatus(change, of: node, handle: nil)
    }

    @Test(arguments: [0o4755, 0o2755, 0o6711, 0o7777, 0o1644, 0o4200, 0o644] as [FileMode])
    func `a new file has the mode that it was asked for, and its backing file no set-ID bit`(_ mode: FileMode) throws {
        let (entry, handle) = try make("file", mode)
        #expect(entry.status.permissions == mode)
        #expect(try volume.status(of: entry.node, handle: nil).permissions == mode)
        #expect(try volume.status(of: entry.node, handle: handle).permissions == mode)
        try volume.write(handle, [1], at: 0)
        volume.close(handle)
        #expect(try volume.lookup("file", in: documents).status.permissions == mode)
        var listed: FileMode?
        try volume.list(documents, from: 0, withEntries: true) { item in
            if let entry = item.entry { listed = entry.status.permissions }
            return true
        }
        #expect(listed == mode)
        #expect(try backing("file").mode & 0o6000 == 0)
        try home.restart()
        #expect(
            try home.volume.with("Documents/file") { node throws(Fault) in
                try home.volume.status(of: node, handle: nil).permissions
            } == mode)
    }

    // While the file is open for the first time, its mode is known without a look at the host.
    @Test(arguments: [true, false])
    func `another mode takes its place, and one without such bits leaves no trace`(isNew: Bool) throws {
        let (entry, handle) = try make("file", 0o644)
        if !isNew { volume.close(handle) }
        defer { if isNew { volume.close(handle) } }
        for mode in [0o4755, 0o2711, 0o1600, 0o7000, 0o755, 0o6555, 0o600] as [FileMode] {
            #expect(try change(mode, of: entry.node).permissions == mode)
            let stored = try backing("file")
            #expect(stored.mode == mode & 0o777 | (mode & 0o7000 == 0 ? 0 : 0o1000))
            #expect(stored.attribute == (mode & 0o7000 == 0 ? nil : String(mode & 0o7000, radix: 8)))
        }
    }

    @Test(arguments: [0o644, 0o4755, 0o2711] as [FileMode])
    func `a change of owner clears them while the file is open for the first time`(mode: FileMode) throws {
        let (entry, handle) = try make("file", 0o600)
        defer { volume.close(handle) }
        var owner = FileStatusChange()
        owner.owner = geteuid()
        owner.group = getegid()
        // Before it has such bits, with them, and after they were cleared.
        for mode in [0o600, mode, 0o755] {
            #expect(try change(mode, of: entry.node).permissions == mode)
            let shown = try volume.changeStatus(owner, of: entry.node, handle: nil, by: TestHome.caller)
            #expect(shown.permissions == mode & 0o777)
            #expect(try backing("file").mode == mode & 0o777)
        }
    }

    @Test func `the attribute that keeps the bits is neither shown nor set`() throws {
        let (entry, handle) = try make("file", 0o4755)
        volume.close(handle)
        let name = NodeModes.attributeName
        #expect(throws: Fault.errno(ENODATA)) { try volume.attribute(name, of: entry.node) }
        #expect(throws: Fault.refused(.computedAttribute)) {
            try volume.setAttribute(name, to: Array("6000".utf8), flags: 0, of: entry.node)
        }
        #expect(throws: Fault.refused(.computedAttribute)) { try volume.removeAttribute(name, of: entry.node) }
        #expect(try volume.attributeNames(of: entry.node) == [])
    }

    @Test func `bits that somebody gave the backing file are not shown`() throws {
        let (entry, handle) = try make("file", 0o755)
        volume.close(handle)
        let path = "\(home.directory)/data/Documents/file"
        try HostPath.changeMode(of: path, to: 0o6755)
        #expect(try volume.status(of: entry.node, handle: nil).permissions == 0o755)
        #expect(try volume.lookup("file", in: documents).status.permissions == 0o755)
        // Nor does a value that nobody could have set lend any.
        try HostPath.changeMode(of: path, to: 0o1755)
        for value in ["", "x", "10000", "644", "77777777777"] {
            try AttributeHolder(path: path, following: false).set(NodeModes.attributeName, to: Array(value.utf8))
            #expect(try volume.status(of: entry.node, handle: nil).permissions == 0o1755, "\(value)")
        }
    }

    @Test func `a write without the capability clears set-user-ID, and set-group-ID where the group executes`() throws {
        let cases: [(FileMode, FileMode)] = [(0o6755, 0o755), (0o6745, 0o2745), (0o2755, 0o755), (0o1755, 0o1755)]
        for (number, (before, after)) in cases.enumerated() {
            let (entry, handle) = try make(FileName("file\(number)")!, before)
            try volume.clearSetIDs(of: handle, by: TestHome.caller)
            #expect(try volume.status(of: entry.node, handle: handle).permissions == after)
            volume.close(handle)
        }
    }

    @Test func `of a caller who is not of the file's group a write clears set-group-ID too`() throws {
        let (entry, handle) = try make("file", 0o6645)
        try volume.clearSetIDs(of: handle, by: Caller(user: 54321, group: 54321, thread: 0))
        #expect(try volume.status(of: entry.node, handle: handle).permissions == 0o645)
        volume.close(handle)
    }
}
