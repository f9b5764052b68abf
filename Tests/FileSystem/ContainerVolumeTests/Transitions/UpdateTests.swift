// A home while its app is updated: new content is shown, and files that are open in replaced directories go on working.

import BackingStore
import ContainerVolume
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport
import Testing

@Suite struct UpdateTests {
    let home: TestHome
    var volume: Volume { home.volume }

    init() throws {
        self.init(try TestHome())
    }

    private init(_ home: TestHome) {
        self.home = home
    }

    /// Another bundle, and an empty `tmp` and other metadata in the place of those that are there.
    @discardableResult
    private func update(
        bundle name: FileName = "Later.app", _ content: String = "later", use: BundleUse? = nil
    ) throws -> Volume.Replaced {
        let bundle = "\(home.directory)/\(UUID().uuidString)"
        try shell(
            "mkdir -p '\(bundle)/\(name.text)/en.lproj' && printf %s '\(content)' > '\(bundle)/\(name.text)/Info.plist'"
        )
        try home.store("new plist", at: "plist")
        let data = home.data
        let update = HomeUpdate(
            app: ContainerIdentifier("com.example.Notes")!, bundleName: name,
            bundle: try sealedBundle(in: bundle, name: name, use: use), data: data, groups: [:], iCloud: [:])
        return try volume.update(update) { () throws(SystemError) in
            let outside = try Descriptor.open(path: home.directory, flags: O_RDONLY | O_DIRECTORY)
            try data.descriptor.rename("tmp", to: FileName("old tmp \(UUID())")!, in: outside)
            try data.descriptor.makeDirectory("tmp", mode: 0o755)
            try data.descriptor.rename(
                "plist", to: ".com.apple.mobile_container_manager.metadata.plist", in: data.descriptor)
        }
    }

    private func removeOldTemporary() throws { try shell("rm -rf '\(home.directory)/old tmp'*") }

    @Test func `the new bundle and an empty tmp are shown, and all else is what it was`() throws {
        let documents = try volume.node("Documents")
        let file = try volume.make("file", in: documents, "kept")
        let tmp = try volume.node("tmp")
        try volume.make("passing", in: tmp, "x")
        #expect(try volume.text("Notes.app/Info.plist") == "sealed")
        let names = try volume.names(in: .root)
        volume.release(try update())
        #expect(try volume.text("Later.app/Info.plist") == "later")
        #expect(throws: Fault.errno(ENOENT)) { _ = try volume.lookup("Notes.app", in: .root) }
        #expect(
            try volume.names(in: .root) == ["Later.app"]
                + names.filter { $0 != "Notes.app" && $0 != "Groups" && $0 != "iCloud" })
        #expect(try volume.names(in: try volume.node("tmp")) == [])
        #expect(try volume.node("tmp") != tmp)
        #expect(try volume.node("Documents") == documents)
        #expect(try volume.node("Documents/file") == file)
        #expect(try volume.text(".com.apple.mobile_container_manager.metadata.plist") == "new plist")
    }

    @Test func `a bundle of the same name is another directory`() throws {
        let before = try volume.node("Notes.app")
        let info = try volume.node("Notes.app/Info.plist")
        volume.release(try update(bundle: "Notes.app"))
        #expect(try volume.node("Notes.app") != before)
        #expect(try volume.node("Notes.app/Info.plist") != info)
        #expect(try volume.text("Notes.app/Info.plist") == "later")
    }

    @Test func `the old bundle stays as it was for open files and known nodes`() throws {
        let bundle = try volume.node("Notes.app")
        let handle = try volume.open(try volume.node("Notes.app/Info.plist"), flags: O_RDONLY)
        let before = try volume.status(of: bundle, handle: nil)
        volume.release(try update())
        #expect(try volume.text(handle) == "sealed")
        #expect(try volume.names(in: bundle).sorted() == ["Info.plist", "en.lproj"])
        let again = try volume.lookup("Info.plist", in: bundle)
        #expect(try volume.bytes(of: again.node) == Array("sealed".utf8))
        let after = try volume.status(of: bundle, handle: nil)
        #expect(after.mode == before.mode && after.owner == before.owner)
        #expect(throws: Fault.refused(.sealedBundle)) { _ = try volume.open(again.node, flags: O_RDWR) }
        // It has no path any more.
        let place = volume.homePath(of: again.node)
        #expect(place.app == ContainerIdentifier("com.example.Notes") && place.path == nil)
        volume.close(handle)
    }

    @Test func `a replaced bundle is unused when its last node is forgotten`() throws {
        let isUnused = Mutex(false)
        do {
            let use = BundleUse()
            use.whenUnused { isUnused.withLock { $0 = true } }
            try update(bundle: "Middle.app", use: use)
        }
        try volume.with("Middle.app/en.lproj") { (node) throws(Fault) in _ = try? volume.names(in: node) }
        let bundle = try volume.node("Middle.app")
        volume.release(try update())
        let inner = try volume.lookup("en.lproj", in: bundle)
        volume.forget(bundle, count: 1)
        #expect(!isUnused.withLock { $0 }, "a directory below it is known")
        volume.forget(inner.node, count: 1)
        #expect(isUnused.withLock { $0 })
    }

    @Test func `descriptors that are open in the old tmp work, and nothing is found or made there any more`() throws {
        let tmp = try volume.node("tmp")
        let inner = try volume.makeDirectory("inner", in: tmp).node
        let (entry, handle) = try volume.create("open", in: inner)
        try volume.write(handle, Array("before".utf8), at: 0)
        let closed = try volume.make("closed", in: inner, "closed")
        volume.release(try update())
        for directory in [tmp, inner] {
            #expect(throws: Fault.errno(ENOENT)) { _ = try volume.create("new", in: directory) }
            #expect(throws: Fault.errno(ENOENT)) { _ = try volume.makeDirectory("new", in: directory) }
            #expect(throws: Fault.errno(ENOENT)) { _ = try volume.names(in: directory) }
            #expect(throws: Fault.errno(ENOENT)) { _ = try volume.lookup("open", in: directory) }
            // A path that came through it is begun anew; what comes here once more has no other way.
            #expect(volume.sendsBack(1, from: directory))
            #expect(volume.sendsBack(2, from: directory))
            #expect(!volume.sendsBack(1, from: directory))
        }
        #expect(try !volume.sendsBack(1, from: volume.node("tmp")))
        try removeOldTemporary()
        for directory in [tmp, inner] {
            #expect(try volume.status(of: directory, handle: nil).kind == .directory)
            try volume.synchronizeDirectory(directory)
        }
        try volume.write(handle, Array(" and after".utf8), at: 6)
        try volume.synchronize(handle, dataOnly: false)
        #expect(try volume.text(handle) == "before and after")
        #expect(try volume.status(of: entry.node, handle: handle).linkCount == 0)
        #expect(try volume.status(of: closed, handle: nil).size == 6)
        #expect(try volume.bytes(of: closed) == Array("closed".utf8))
        #expect(volume.homePath(of: closed).path == nil)
        volume.close(handle)
    }

    @Test func `a file of tmp may be closed while its tmp leaves the home`() throws {
        let duringClose = Mutex<(@Sendable () -> Void)?>(nil)
        // A close asks for the time between finding the entry that it is a use of, and writing down where that lies.
        let home = try TestHome(clock: {
            let body = duringClose.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
            return .now
        })
        let updates = UpdateTests(home)
        let (_, handle) = try home.volume.create("file", in: try home.volume.node("tmp"))
        // The creation was a use too: with that one written, the close has to write down a place again.
        home.context.uses.writeDown()
        let failure = Mutex<String?>(nil)
        duringClose.withLock { body in
            body = {
                do { try updates.update() } catch { failure.withLock { $0 = "\(error)" } }
            }
        }
        home.volume.close(handle)
        #expect(failure.withLock { $0 } == nil)
        #expect(duringClose.withLock { $0 == nil }, "the update has come in between")
        #expect(try home.volume.text("Later.app/Info.plist") == "later")
    }

    @Test(arguments: [true, false]) func `a file of tmp that has another name stays the same file`(isKnown: Bool) throws
    {
        let tmp = try volume.node("tmp")
        let documents = try volume.node("Documents")
        let (entry, handle) = try volume.create("file", in: tmp)
        try volume.write(handle, Array("one".utf8), at: 0)
        if isKnown {
            _ = try volume.link(entry.node, to: "linked", in: documents)
        } else {
            // A name that the kernel has not asked for yet.
            try shell("ln '\(home.directory)/data/tmp/file' '\(home.directory)/data/Documents/linked'")
        }
        volume.release(try update())
        try removeOldTemporary()
        let linked = try volume.lookup("linked", in: documents)
        #expect(linked.node == entry.node)
        try volume.write(handle, Array("two".utf8), at: 3)
        #expect(try volume.bytes(of: linked.node) == Array("onetwo".utf8))
        // Its last name goes as any file's does.
        try volume.removeFile("linked", in: documents)
        try volume.write(handle, Array("three".utf8), at: 6)
        #expect(try volume.text(handle) == "onetwothree")
        volume.close(handle)
    }

    @Test func `a new file is never taken for one that went with the old tmp`() throws {
        let tmp = try volume.node("tmp")
        var old: [NodeID] = []
        for number in 0..<200 { old.append(try volume.make(FileName("\(number)")!, in: tmp, "old")) }
        // Some of them the kernel forgets, so that the host may give their numbers to others.
        for node in old[100...] { volume.forget(node, count: 1) }
        volume.release(try update())
        try removeOldTemporary()
        let documents = try volume.node("Documents")
        for number in 0..<300 {
            let node = try volume.make(FileName("\(number)")!, in: documents, "new \(number)")
            #expect(!old[..<100].contains(node))
            #expect(try volume.bytes(of: node) == Array("new \(number)".utf8))
        }
    }

    @Test func `an error of the exchange is thrown on, and the home is as before`() throws {
        let tmp = try volume.node("tmp")
        let passing = try volume.make("passing", in: tmp, "x")
        let data = home.data
        let update = HomeUpdate(
            app: ContainerIdentifier("com.example.Notes")!, bundleName: "Notes.app",
            bundle: try sealedBundle(in: "\(home.directory)/bundle"), data: data,
            groups: [:], iCloud: [:])
        #expect(throws: SystemError.noSpace) {
            _ = try volume.update(update) { () throws(SystemError) in throw SystemError.noSpace }
        }
        #expect(try volume.node("tmp/passing") == passing)
        #expect(try volume.text("Notes.app/Info.plist") == "sealed")
    }

    @Test func `the kernel is told of every name that means something else now`() throws {
        let kernel = Told()
        let before = volume.kernelCache
        volume.kernelCache = kernel
        defer { volume.kernelCache = before }
        try update()
        let names = kernel.names.withLock { $0 }
        for name in ["Notes.app", "Later.app", "tmp", ".com.apple.mobile_container_manager.metadata.plist"] {
            #expect(names.contains(name))
        }
        #expect(!names.contains("Documents") && !names.contains("Library"))
    }

    private final class Told: KernelCache {
        let names = Mutex<[String]>([])
        func forgetEntry(_ name: FileName, in parent: NodeID) {
            if parent == .root { names.withLock { $0.append(name.text) } }
        }
        func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool) {}
        func follow(_ directory: NodeID) {}
        func expireEntry(_ name: FileName, in parent: NodeID) {}
        func forgetContent(of node: NodeID) {}
        func forgetContent(of node: NodeID, _ range: Range<Int64>) {}
        func forgetStatus(of node: NodeID) {}
        func lost(_ loss: LostRange) {}
    }
}
