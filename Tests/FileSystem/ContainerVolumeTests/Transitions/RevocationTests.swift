// Content that the kernel must drop: files that a lock closes, writes that a lock lost, files that a restart leaves
// behind.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import Testing

private let gone = Fault.errno(EIO)
private let stale = Fault.errno(ESTALE)

/// Logs the notifications to the kernel.
private final class ToldKernel: KernelCache {
    let entries = Mutex<[String]>([])
    let contents = Mutex<[NodeID]>([])
    private let losses = Mutex<[LostRange]>([])
    /// Takes the directory away with itself.
    private let remains: (any KernelCache)?

    init(_ volume: Volume) {
        remains = volume.kernelCache
        volume.kernelCache = self
    }

    func forgetEntry(_ name: FileName, in parent: NodeID) { entries.withLock { $0.append(name.text) } }
    func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool) {}
    func follow(_ directory: NodeID) {}
    func expireEntry(_ name: FileName, in parent: NodeID) {}
    func forgetContent(of node: NodeID) { contents.withLock { $0.append(node) } }
    func forgetContent(of node: NodeID, _ range: Range<Int64>) { forgetContent(of: node) }
    func forgetStatus(of node: NodeID) {}
    func lost(_ loss: LostRange) { losses.withLock { $0.append(loss) } }

    /// The losses that were reported since the last call.
    func takeLosses() -> [LostRange] {
        losses.withLock { losses in
            defer { losses = [] }
            return losses
        }
    }
}

@Suite("The files that a lock takes from the kernel")
struct LockedFileTests {
    private let home = ProtectedHome()
    private var volume: Volume { home.volume }

    /// The nodes to lock, and whether somebody may be writing.
    private var listed: [NodeID: Bool] {
        Dictionary(uniqueKeysWithValues: volume.filesToLock.map { ($0.node, $0.mayBeWritten) })
    }

    @Test("Those of class A that were ever opened, and those of class B that nobody has open")
    func list() throws {
        var files: [ProtectionClass: NodeID] = [:]
        for protection in ProtectionClass.allCases { files[protection] = try home.file("file", protection) }
        let (a, b) = (files[.complete]!, files[.completeUnlessOpen]!)
        #expect(listed == [a: false, b: false])
        let reader = try volume.open(a, flags: O_RDONLY)
        #expect(listed == [a: false, b: false])
        let writer = try volume.open(a, flags: O_WRONLY)
        let open = try volume.open(b, flags: O_RDWR)
        #expect(listed == [a: true])
        volume.close(writer)
        #expect(listed == [a: false])
        volume.close(open)
        volume.close(reader)
        #expect(listed == [a: false, b: false])
        volume.forget(a, count: 1)
        #expect(listed == [b: false])
    }

    @Test("One that was only looked up is not among them")
    func unopened() throws {
        volume.forget(try home.file("file", .complete), count: 1)
        let node = try volume.node("Documents/\(ProtectedHome.name(.complete))/file")
        #expect(listed == [:])
        #expect(try volume.bytes(of: node) == Array("content".utf8))
        #expect(listed == [node: false])
    }

    @Test("A file that changed its class counts by the new one, open or closed")
    func changed() throws {
        let entered = try home.file("entered", .none)
        let opened = try home.file("opened", .standard)
        let left = try home.file("left", .complete)
        let handles = try [opened, left].map { try volume.open($0, flags: O_RDWR) }
        try volume.protect(entered, .complete)
        try volume.protect(opened, .complete)
        try volume.protect(left, .none)
        #expect(listed == [entered: false, opened: true])
        for handle in handles { volume.close(handle) }
    }

    @Test("A file that is closed while it may not be opened is forgotten at once, and no other")
    func closed() throws {
        let kernel = ToldKernel(volume)
        let handles = try ProtectionClass.allCases.map { try volume.open(try home.file("file", $0), flags: O_RDWR) }
        home.lock()
        for handle in handles { volume.close(handle) }
        #expect(Set(kernel.contents.withLock { $0 }) == Set(handles[..<2].map(\.nodeID)))
        #expect(kernel.entries.withLock { $0 } == [])
    }

    @Test("A loss is reported once, with its place, and ends when the file is closed")
    func loss() throws {
        let kernel = ToldKernel(volume)
        let node = try home.file("file", .complete)
        let handle = try volume.open(node, flags: O_RDWR)
        home.lock()
        #expect(throws: Fault.refused(.dataProtection)) { try volume.write(handle, [1, 2, 3], at: 5) }
        #expect(kernel.takeLosses().isEmpty, "the write that it is a part of may go on")
        volume.reportLosses()
        let loss = try #require(kernel.takeLosses().first)
        #expect(loss.range == 5..<8)
        #expect(loss.place.path == "Documents/\(ProtectedHome.name(.complete))/file")
        volume.reportLoss(of: node)
        #expect(kernel.takeLosses().isEmpty)
        try home.unlock()
        #expect(throws: gone) { try volume.bytes(handle) }
        volume.close(handle)
        #expect(kernel.takeLosses().isEmpty)
        #expect(kernel.entries.withLock { $0 } == ["file"])
        #expect(throws: stale) { try volume.open(node, flags: O_RDONLY) }
        let anew = try volume.lookup("file", in: home.directory(.complete))
        #expect(anew.node != node)
        #expect(anew.status.size == 7)
        #expect(try volume.bytes(of: anew.node) == Array("content".utf8))
    }
}

@Suite("Writes lost to a lock")
struct LossTests {
    private let home = ProtectedHome()
    private var volume: Volume { home.volume }

    @Test("A loss is reported when the file is closed, by its writer or by the end of the writer's process")
    func lossAtClose() throws {
        let kernel = ToldKernel(volume)
        let handle = try volume.open(try home.file("file", .complete), flags: O_RDWR)
        home.lock()
        for offset in [0, 2, 9] {
            #expect(throws: Fault.refused(.dataProtection)) { try volume.write(handle, [1, 2], at: offset) }
        }
        #expect(handle.hasLoss)
        volume.close(handle)
        let losses = kernel.takeLosses()
        #expect(losses.map(\.range) == [0..<4, 9..<11])
        #expect(losses.allSatisfy { $0.place.path == "Documents/\(ProtectedHome.name(.complete))/file" })
    }
}

@Suite("Nodes and files after a restart")
struct RestartTests {
    private let home = ProtectedHome()
    private var volume: Volume { home.volume }

    /// As the daemon does it, without a mount; the kernel has not obeyed yet.
    private func leaveBehind() {
        volume.beginRestart()
        volume.leaveFilesBehind { home.home.context.openFiles.retireAll(admittingComplete: true) }
    }

    private func restart() {
        leaveBehind()
        volume.forgetFilesLeftBehind()
        volume.endRestart()
    }

    private func expectGone(_ handle: Handle, _ comment: Comment) throws {
        var change = FileStatusChange()
        change.size = 1
        let other = try volume.open(try home.file(FileName(UUID().uuidString)!, .none), flags: O_RDWR)
        defer { volume.close(other) }
        #expect(throws: gone, comment) { try volume.bytes(handle) }
        #expect(throws: gone, comment) { try volume.status(of: handle.nodeID, handle: handle) }
        #expect(throws: gone, comment) { try volume.seek(handle, from: 0, toHole: true) }
        #expect(throws: gone, comment) { try volume.copy(from: handle, at: 0, to: other, at: 0, count: 1) }
        #expect(throws: gone, comment) { try volume.write(handle, [1], at: 0) }
        #expect(throws: gone, comment) { try volume.changeStatus(change, of: handle.nodeID, handle: handle) }
        #expect(throws: gone, comment) { try volume.allocate(handle, mode: 0, offset: 0, count: 9) }
        #expect(throws: gone, comment) { try volume.copy(from: other, at: 0, to: handle, at: 0, count: 1) }
        try volume.synchronize(handle, dataOnly: false)
    }

    @Test("Files are new nodes and directories the old ones; old descriptors reach nothing, in every class")
    func nodes() throws {
        let files = try ProtectionClass.allCases.map { ($0, try home.file("file", $0)) }
        let directories = try ProtectionClass.allCases.map { try home.directory($0) }
        let handles = try files.map { try volume.open($0.1, flags: O_RDWR) }
        let bundle = try volume.node("Notes.app/Info.plist")
        let sealed = try volume.open(bundle, flags: O_RDONLY)
        restart()
        for handle in handles { try expectGone(handle, "before anything was looked up") }
        for (index, (protection, old)) in files.enumerated() {
            #expect(try home.directory(protection) == directories[index])
            let new = try volume.lookup("file", in: directories[index])
            #expect(new.node != old && new.node.epoch != old.epoch)
            #expect(try volume.bytes(of: new.node) == Array("content".utf8))
            try expectGone(handles[index], "\(protection)")
            #expect(try volume.status(of: old, handle: nil).size == 7)
        }
        #expect(throws: gone) { try volume.bytes(sealed) }
        #expect(throws: gone) { try volume.status(of: bundle, handle: sealed) }
        #expect(try volume.node("Notes.app/Info.plist") != bundle)
        #expect(try volume.text("Notes.app/Info.plist") == "sealed")
        for handle in handles + [sealed] { volume.close(handle) }
    }

    @Test("An old node is looked up again while the kernel forgets, and answers EIO from then on")
    func oldNodes() throws {
        let node = try home.file("file", .standard)
        var change = FileStatusChange()
        change.size = 1
        leaveBehind()
        #expect(throws: stale) { try volume.open(node, flags: O_RDONLY) }
        #expect(throws: stale) { try volume.changeStatus(change, of: node, handle: nil) }
        volume.endRestart()
        #expect(throws: gone) { try volume.open(node, flags: O_RDONLY) }
        #expect(throws: gone) { try volume.changeStatus(change, of: node, handle: nil) }
        let new = try volume.lookup("file", in: home.directory(.standard))
        #expect(new.status.size == 7)
        // The new one forgotten, the old one does not come back.
        volume.forget(new.node, count: 1)
        #expect(try volume.lookup("file", in: home.directory(.standard)).node != node)
    }

    @Test("From its beginning on nothing that is open is written")
    func begun() throws {
        let node = try home.file("file", .none)
        let handle = try volume.open(node, flags: O_RDWR)
        volume.beginRestart()
        #expect(throws: gone) { try volume.status(of: node, handle: handle) }
        // Pages that the kernel holds are still written.
        try volume.write(handle, Array("written".utf8), at: 0)
        volume.leaveFilesBehind { home.home.context.openFiles.retireAll(admittingComplete: true) }
        volume.endRestart()
        volume.close(handle)
        #expect(try volume.text("Documents/\(ProtectedHome.name(.none))/file") == "written")
    }

    @Test("Old nodes are released when the kernel forgets them")
    func forgotten() throws {
        let directory = try home.directory(.standard)
        let before = volume.knownNodes
        var nodes: [NodeID] = []
        for index in 0..<50 { nodes.append(try volume.make(FileName("file\(index)")!, in: directory, "text")) }
        for _ in 0..<3 {
            restart()
            nodes += try (0..<50).map { try volume.lookup(FileName("file\($0)")!, in: directory).node }
        }
        #expect(Set(nodes).count == 200)
        #expect(volume.knownNodes == before + 200)
        for node in nodes { volume.forget(node, count: 1) }
        #expect(volume.knownNodes == before)
        for node in nodes { #expect(throws: stale) { try volume.status(of: node, handle: nil) } }
    }

    @Test("The old opening of a file does nothing to the new one, written, closed or asked for its time")
    func twoNodes() throws {
        let directory = try home.directory(.standard)
        let old = try home.file("file", .standard)
        let oldHandle = try volume.open(old, flags: O_RDWR)
        try volume.write(oldHandle, [UInt8](repeating: 65, count: 500_000), at: 0)
        var change = FileStatusChange()
        change.modificationTime = .at(timespec(tv_sec: 1_000_000, tv_nsec: 0))
        _ = try volume.changeStatus(change, of: old, handle: oldHandle)
        restart()
        let new = try volume.lookup("file", in: directory)
        #expect(new.status.modificationTime.tv_sec == 1_000_000, "kept, and written down by the restart")
        let handle = try volume.open(new.node, flags: O_RDWR)
        #expect(throws: gone) { try volume.bytes(oldHandle) }
        try volume.write(handle, [UInt8](repeating: 66, count: 700_000), at: 0)
        // The kernel may have an old time to write down still.
        _ = try? volume.changeStatus(change, of: old, handle: oldHandle)
        change.modificationTime = .at(timespec(tv_sec: 2_000_000, tv_nsec: 0))
        _ = try volume.changeStatus(change, of: new.node, handle: nil)
        #expect(throws: gone) { try volume.write(oldHandle, [1], at: 100) }
        try volume.synchronize(oldHandle, dataOnly: false)
        volume.close(oldHandle)
        volume.close(handle)
        #expect(try volume.status(of: new.node, handle: nil).modificationTime.tv_sec == 2_000_000)
        #expect(try volume.bytes(of: new.node) == [UInt8](repeating: 66, count: 700_000))
    }

    @Test("All names of a hard-linked file lead to one new node, and the kernel is told of each")
    func hardLinks() throws {
        let kernel = ToldKernel(volume)
        let directory = try home.directory(.standard)
        let old = try home.file("one", .standard)
        _ = try volume.link(old, to: "two", in: directory)
        let handle = try volume.open(old, flags: O_RDWR)
        restart()
        #expect(kernel.entries.withLock { $0.sorted() } == ["one", "two"])
        let new = try volume.lookup("one", in: directory).node
        #expect(new != old)
        #expect(try volume.lookup("two", in: directory).node == new)
        try volume.removeFile("one", in: directory)
        try expectGone(handle, "one name removed")
        #expect(try volume.bytes(of: new) == Array("content".utf8))
        volume.close(handle)
    }

    @Test("A file that was removed and is open answers fstat, and is freed when it is closed")
    func removed() throws {
        let directory = try home.directory(.standard)
        let node = try home.file("file", .standard)
        let handle = try volume.open(node, flags: O_RDWR)
        try volume.removeFile("file", in: directory)
        restart()
        try expectGone(handle, "removed")
        let status = try volume.status(of: node, handle: nil)
        #expect(status.linkCount == 0 && status.size == 7)
        volume.close(handle)
        volume.forget(node, count: 1)
        #expect(throws: stale) { try volume.status(of: node, handle: nil) }
        #expect(throws: Fault.errno(ENOENT)) { try volume.lookup("file", in: directory) }
    }

    @Test("A new file takes an old one's name without touching it")
    func successor() throws {
        let directory = try home.directory(.standard)
        let old = try home.file("file", .standard)
        restart()
        try volume.removeFile("file", in: directory)
        let new = try home.file("file", .standard, "another file")
        #expect(throws: Fault.self) { try volume.status(of: old, handle: nil) }
        #expect(throws: gone) { try volume.open(old, flags: O_RDONLY) }
        #expect(try volume.bytes(of: new) == Array("another file".utf8))
    }

    @Test("With a passcode it is before first unlock: only class D is found again, until the unlock")
    func beforeFirstUnlock() throws {
        for protection in ProtectionClass.allCases { try home.file("file", protection) }
        volume.beginRestart()
        volume.leaveFilesBehind { home.enter(.beforeFirstUnlock) }
        volume.endRestart()
        for protection in ProtectionClass.allCases {
            let found = try volume.lookup("file", in: home.directory(protection))
            #expect(!found.mayCacheStatus)
            if protection == .none {
                #expect(try volume.bytes(of: found.node) == Array("content".utf8))
            } else {
                #expect(throws: Fault.refused(.dataProtection)) { try volume.open(found.node, flags: O_RDONLY) }
            }
        }
        try home.unlock()
        for protection in ProtectionClass.allCases {
            #expect(try volume.text("Documents/\(ProtectedHome.name(protection))/file") == "content")
        }
    }
}
