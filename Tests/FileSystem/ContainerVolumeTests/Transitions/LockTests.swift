// Each call on a file of each class in each state of the device, and the content that a lock takes away.

import BackingStore
import ContainerVolume
import DataProtection
import Foundation
import Platform
import SandboxModel
import Testing

private let refused = Fault.refused(.dataProtection)

/// A directory of each class in Documents, which gives its class to what is made in it.
struct ProtectedHome {
    let home = try! TestHome()
    var volume: Volume { home.volume }

    func directory(_ protection: ProtectionClass) throws -> NodeID {
        let documents = try volume.node("Documents")
        let name = FileName(Self.name(protection))!
        if let known = try? volume.lookup(name, in: documents) { return known.node }
        let node = try volume.makeDirectory(name, in: documents).node
        try volume.protect(node, protection)
        return node
    }

    @discardableResult
    func file(_ name: FileName, _ protection: ProtectionClass, _ text: String = "content") throws -> NodeID {
        try volume.make(name, in: directory(protection), text)
    }

    static func name(_ protection: ProtectionClass) -> String { protection.foundationName }

    /// As the daemon does it, without a mount.
    func lock() {
        home.context.deviceState = .locked
        home.context.openFiles.refuseReading()
        home.context.openFiles.close()
        home.keys.forget([.complete, .completeUnlessOpen])
    }

    func unlock() throws {
        try home.keybag.unlockWithoutPasscode(uidKey: home.uidKey, into: home.keys)
        home.context.openFiles.reopen()
        home.context.deviceState = .unlocked
    }

    func enter(_ state: DeviceState) {
        switch state {
        case .unlocked, .locking: home.context.deviceState = state
        case .locked: lock()
        case .beforeFirstUnlock:
            home.boot()
            home.context.openFiles.retireAll(admittingComplete: false)
        }
    }
}

private let locked: [ProtectionClass] = [.completeUntilFirstUserAuthentication, .none]
/// The classes that may be opened; files of class B can also be made in every state.
private let openable: [DeviceState: [ProtectionClass]] = [
    .unlocked: ProtectionClass.allCases, .locking: ProtectionClass.allCases, .locked: locked,
    .beforeFirstUnlock: [.none],
]
private let everything = DeviceState.allCases.flatMap { state in ProtectionClass.allCases.map { (state, $0) } }

@Suite("Calls on a file of each class in each state")
struct ProtectedCallTests {
    private let home = ProtectedHome()
    private var volume: Volume { home.volume }

    @Test("Opening a file that is there, in any mode, and changing its length by path", arguments: everything)
    func open(state: DeviceState, protection: ProtectionClass) throws {
        let node = try home.file("file", protection)
        home.enter(state)
        let mayOpen = openable[state]!.contains(protection)
        var shorter = FileStatusChange()
        shorter.size = 3
        for flags in [O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDWR | O_TRUNC] {
            if mayOpen {
                let handle = try volume.open(node, flags: flags)
                let length = flags & O_TRUNC == 0 ? 7 : 0
                #expect(try volume.bytes(handle).count == length)
                if flags & O_ACCMODE != O_RDONLY { try volume.write(handle, Array("content".utf8), at: 0) }
                volume.close(handle)
                if flags == O_RDONLY | O_TRUNC {
                    let writer = try volume.open(node, flags: O_WRONLY)
                    try volume.write(writer, Array("content".utf8), at: 0)
                    volume.close(writer)
                }
            } else {
                #expect(throws: refused) { try volume.open(node, flags: flags) }
                #expect(throws: refused) { try volume.create("file", in: home.directory(protection), flags: O_RDWR) }
            }
        }
        if mayOpen {
            #expect(try volume.changeStatus(shorter, of: node, handle: nil).size == 3)
        } else {
            #expect(throws: refused) { try volume.changeStatus(shorter, of: node, handle: nil) }
            #expect(try volume.status(of: node, handle: nil).size == 7)
        }
    }

    @Test("Making one: refused, it leaves no name; made, it is read and written", arguments: everything)
    func create(state: DeviceState, protection: ProtectionClass) throws {
        let directory = try home.directory(protection)
        home.enter(state)
        let mayOpen = openable[state]!.contains(protection)
        guard mayOpen || protection == .completeUnlessOpen else {
            for flags in [O_RDWR, O_RDWR | O_EXCL] {
                #expect(throws: refused) { try volume.create("new", in: directory, flags: flags) }
            }
            #expect(throws: refused) {
                try volume.makeNode("new", in: directory, mode: S_IFREG | 0o600, caller: TestHome.caller)
            }
            return #expect(try volume.names(in: directory) == [])
        }
        let (entry, handle) = try volume.create("new", in: directory)
        try volume.write(handle, Array("text".utf8), at: 0)
        #expect(try volume.text(handle) == "text")
        var shorter = FileStatusChange()
        shorter.size = 2
        #expect(try volume.changeStatus(shorter, of: entry.node, handle: handle).size == 2)
        try volume.synchronize(handle, dataOnly: false)
        volume.close(handle)
        if mayOpen {
            #expect(try volume.bytes(of: entry.node) == Array("te".utf8))
        } else {
            #expect(throws: refused) { try volume.open(entry.node, flags: O_RDONLY) }
        }
    }

    @Test("Calls that reach no content succeed in every state", arguments: everything)
    func attributes(state: DeviceState, protection: ProtectionClass) throws {
        let directory = try home.directory(protection)
        let node = try home.file("file", protection)
        home.enter(state)
        #expect(try volume.status(of: node, handle: nil).size == 7)
        #expect(try volume.lookup("file", in: directory).status.size == 7)
        var change = FileStatusChange()
        change.mode = 0o600
        change.modificationTime = .at(timespec(tv_sec: 1_000_000, tv_nsec: 0))
        change.accessTime = .now
        #expect(try volume.changeStatus(change, of: node, handle: nil).permissions == 0o600)
        try volume.setAttribute(Array("user.a".utf8), to: [1], flags: 0, of: node)
        #expect(try volume.attribute(Array("user.a".utf8), of: node) == [1])
        #expect(try volume.protection(of: node) == protection)
        try volume.rename("file", in: directory, to: "other", in: directory, mode: .replacing)
        _ = try volume.makeDirectory("inner", in: directory)
        _ = try volume.makeSymbolicLink("link", in: directory, target: [65], caller: TestHome.caller)
        #expect(try volume.names(in: directory).sorted() == ["inner", "link", "other"])
        try volume.removeFile("other", in: directory)
    }

    /// Descriptors that were opened before a lock; a restart leaves none.
    @Test("A descriptor of class A is refused at once, every other works on", arguments: ProtectionClass.allCases)
    func handles(protection: ProtectionClass) throws {
        let node = try home.file("file", protection)
        let handle = try volume.open(node, flags: O_RDWR)
        let other = try volume.open(try home.file("other", .none), flags: O_RDWR)
        var change = FileStatusChange()
        change.size = 5
        let calls: [(String, () throws -> Void)] = [
            // The refused range is lost until it is written again.
            ("write", { try volume.write(handle, Array("new".utf8), at: 0) }),
            ("read", { _ = try volume.bytes(handle) }),
            ("ftruncate", { _ = try volume.changeStatus(change, of: node, handle: handle) }),
            ("fallocate", { try volume.allocate(handle, mode: 0, offset: 0, count: 9) }),
            ("seek", { _ = try volume.seek(handle, from: 0, toHole: true) }),
            ("copy from", { _ = try volume.copy(from: handle, at: 0, to: other, at: 0, count: 3) }),
            ("copy to", { _ = try volume.copy(from: other, at: 0, to: handle, at: 0, count: 3) }),
            ("getattr", { _ = try volume.status(of: node, handle: handle) }),
        ]
        home.lock()
        for (name, call) in calls {
            if protection == .complete {
                #expect(throws: refused, "\(name)") { try call() }
            } else {
                #expect(throws: Never.self, "\(name)") { try call() }
            }
        }
        // fstat(2) comes without the descriptor.
        _ = try volume.status(of: node, handle: nil)
        try volume.synchronize(handle, dataOnly: false)
        try home.unlock()
        for (name, call) in calls { #expect(throws: Never.self, "\(name)") { try call() } }
        volume.close(handle)
        volume.close(other)
    }

    @Test("While it locks, what the kernel holds of class A is still written, and nothing else begins")
    func writingOut() throws {
        let node = try home.file("file", .complete)
        let handle = try volume.open(node, flags: O_RDWR)
        home.home.context.deviceState = .locked
        #expect(throws: refused) { try volume.open(node, flags: O_RDONLY) }
        #expect(throws: refused) { try volume.status(of: node, handle: handle) }
        #expect(throws: refused) { try volume.allocate(handle, mode: 0, offset: 0, count: 9) }
        #expect(try volume.text(handle) == "content")
        home.home.context.openFiles.refuseReading()
        #expect(throws: refused) { try volume.bytes(handle) }
        try volume.write(handle, Array("written".utf8), at: 0)
        home.lock()
        #expect(throws: refused) { try volume.write(handle, [1], at: 0) }
        volume.close(handle)
        try home.unlock()
        #expect(try volume.text("Documents/\(ProtectedHome.name(.complete))/file") == "written")
    }

    @Test("In the grace period everything is as it was", arguments: ProtectionClass.allCases)
    func grace(protection: ProtectionClass) throws {
        let node = try home.file("file", protection)
        let handle = try volume.open(node, flags: O_RDWR)
        home.enter(.locking)
        try volume.write(handle, Array("changed".utf8), at: 0)
        #expect(try volume.status(of: node, handle: handle).size == 7)
        #expect(volume.mayCacheStatus(of: node, try volume.status(of: node, handle: nil)))
        #expect(try volume.bytes(of: node) == Array("changed".utf8))
        volume.close(handle)
    }

    @Test("The kernel keeps a file's attributes only while every class is open, a directory's always")
    func mayCacheStatus() throws {
        let directory = try home.directory(.complete)
        let files = try ProtectionClass.allCases.map { try home.file("file", $0) }
        for state in DeviceState.allCases {
            home.home.context.deviceState = state
            let keeps = state == .unlocked || state == .locking
            for file in files {
                #expect(volume.mayCacheStatus(of: file, try volume.status(of: file, handle: nil)) == keeps)
            }
            #expect(try volume.lookup("file", in: directory).mayCacheStatus == keeps)
            #expect(volume.mayCacheStatus(of: directory, try volume.status(of: directory, handle: nil)))
        }
    }

    @Test("Class B: open files go on, and cannot be opened again; closed ones wait for the unlock")
    func unlessOpen() throws {
        let node = try home.file("file", .completeUnlessOpen)
        let handle = try volume.open(node, flags: O_RDWR)
        home.lock()
        let (entry, made) = try volume.create("made", in: home.directory(.completeUnlessOpen))
        try volume.write(made, Array("made while locked".utf8), at: 0)
        for open in [node, entry.node] {
            for flags in [O_RDONLY, O_WRONLY] {
                #expect(throws: refused) { try volume.open(open, flags: flags) }
            }
        }
        try volume.write(handle, Array("written".utf8), at: 7)
        #expect(try volume.text(handle) == "contentwritten")
        volume.close(handle)
        volume.close(made)
        #expect(throws: refused) { try volume.open(node, flags: O_RDONLY) }
        #expect(throws: refused) { try volume.open(entry.node, flags: O_RDONLY) }
        try home.unlock()
        #expect(try volume.bytes(of: node) == Array("contentwritten".utf8))
        #expect(try volume.bytes(of: entry.node) == Array("made while locked".utf8))
    }
}
