// An app's home for one test, on a directory of the host, and the volume that shows it.

import BackingStore
import ContainerVolume
import DataProtection
import Foundation
import Platform
import SandboxModel
import Synchronization
import TestSupport

/// Foundation has another.
typealias Handle = ContainerVolume.FileHandle

/// The containers of one app and, through any number of sessions, a volume over them.
final class TestHome: @unchecked Sendable {
    let directory: String
    let uidKey = UIDKey()
    let keybag: Keybag
    let keys: KeyRing
    let home: Home
    private let clock: @Sendable () -> HostTime
    private var session: UInt32 = 1
    private var killed: Set<UInt32> = []
    private(set) var volume: Volume
    /// The present volume's, with the device's state.
    private(set) var context: StoreContext

    static let group: ContainerIdentifier = ContainerIdentifier("group.com.example.notes")!
    static let iCloud: ContainerIdentifier = ContainerIdentifier("iCloud.com.example.Notes")!
    static let caller = Caller(user: geteuid(), group: getegid(), thread: getpid())

    /// - Parameters:
    ///   - place: a directory of the host for many small files.
    ///   - clock: of the record of use.
    init(in place: String = "/var/tmp", clock: @escaping @Sendable () -> HostTime = { .now }) throws {
        let directory = "\(place)/appcontainer-volume-\(UUID().uuidString)"
        self.directory = directory
        (keybag, keys) = Keybag.create(passcode: nil, uidKey: uidKey)
        func make(_ path: String) throws -> SharedDescriptor {
            try FileManager.default.createDirectory(atPath: "\(directory)/\(path)", withIntermediateDirectories: true)
            return SharedDescriptor(try Descriptor.open(path: "\(directory)/\(path)", flags: O_RDONLY | O_DIRECTORY))
        }
        for standard in ["Documents", "Library/Caches", "Library/Preferences", "tmp"] {
            _ = try make("data/\(standard)")
        }
        _ = try make("bundle/Notes.app")
        _ = try make("bundle/Notes.app/en.lproj")
        try "sealed".write(toFile: "\(directory)/bundle/Notes.app/Info.plist", atomically: false, encoding: .utf8)
        home = Home(
            app: ContainerIdentifier("com.example.Notes")!, bundleName: "Notes.app",
            bundle: try sealedBundle(in: "\(directory)/bundle"),
            data: try make("data"), groups: [TestHome.group: try make("group")],
            iCloud: [TestHome.iCloud: try make("iCloud")], owner: geteuid(), group: getegid(), isPrivate: true)
        context = TestHome.context(keys, 1, uses: UseRecord(clock: clock))
        self.clock = clock
        volume = try TestHome.volume(over: home, directory, context)
        volume.kernelCache = Remains(directory)
        try store("plist", at: ".com.apple.mobile_container_manager.metadata.plist")
    }

    /// Takes the directory away. Every volume over it keeps this as its kernel cache, of which nothing is asked here,
    /// so that a test may hold the volume alone.
    private final class Remains: KernelCache {
        let directory: String
        init(_ directory: String) { self.directory = directory }
        deinit {
            // FileManager fails where a path is longer than PATH_MAX.
            _ = try? shell("rm -rf '\(directory)'")
        }
        func forgetEntry(_ name: FileName, in parent: NodeID) {}
        func forgetEntry(_ name: FileName, in parent: NodeID, unless isBack: @escaping @Sendable () -> Bool) {}
        func follow(_ directory: NodeID) {}
        func expireEntry(_ name: FileName, in parent: NodeID) {}
        func forgetContent(of node: NodeID) {}
        func forgetContent(of node: NodeID, _ range: Range<Int64>) {}
        func forgetStatus(of node: NodeID) {}
        func lost(_ loss: LostRange) {}
    }

    private static func context(
        _ keys: KeyRing, _ session: UInt32, killed: Set<UInt32> = [], uses: UseRecord = UseRecord()
    ) -> StoreContext {
        // Directories count for something, as on ext4.
        let space = SpaceLedger(weights: SpaceWeights(directory: 4096))
        let history = SessionHistory(current: session, killed: killed)
        return StoreContext(keys: keys, history: history, space: space, uses: uses) { _ in }
    }

    /// The data container's directory on the host.
    var data: SharedDescriptor { home.data }

    private static func volume(over home: Home, _ directory: String, _ context: StoreContext) throws -> Volume {
        let device = SharedDescriptor(try Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY))
        return Volume(view: .home(home), device: device, context: context)
    }

    /// Ends the session, by a shutdown or, when `killed`, without one, and starts the next.
    func restart(killed isKilled: Bool = false) throws {
        if isKilled { killed.insert(session) }
        session += 1
        let remains = volume.kernelCache
        context = TestHome.context(keys, session, killed: killed, uses: UseRecord(clock: clock))
        volume = try TestHome.volume(over: home, directory, context)
        volume.kernelCache = remains
    }

    /// Puts a file into the data container without the volume, as the system does.
    func store(_ text: String, at path: String) throws {
        let file = SharedDescriptor(
            try Descriptor.open(path: "\(directory)/data/\(path)", flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o644))
        let content = try EncryptedFile.create(
            file, protection: .standard, context: TestHome.context(keys, session)
        ).file
        try unsafe content.write(Array(text.utf8).span.bytes, at: 0)
        try content.commit()
    }

    /// Delivers `Inbox/<name>`, and with it the Inbox where there is none.
    func deliver(_ name: String, _ text: String) throws {
        let path = "Documents/Inbox/\(name)"
        try FileManager.default.createDirectory(
            atPath: ("\(directory)/data/\(path)" as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true)
        try store(text, at: path)
    }
}

/// Calls of tests, with fewer arguments. Paths are relative to the root.
extension Volume {
    /// Looks every name of the path up; the test forgets what it got when it counts.
    func node(_ path: String) throws(Fault) -> NodeID {
        var node = NodeID.root
        for name in path.split(separator: "/") { node = try lookup(FileName(String(name))!, in: node).node }
        return node
    }

    /// Runs `body` on the node of a path, and takes all lookups back.
    func with<Result>(_ path: String, _ body: (NodeID) throws(Fault) -> Result) throws(Fault) -> Result {
        var known: [NodeID] = []
        defer { for node in known.reversed() { forget(node, count: 1) } }
        var node = NodeID.root
        for name in path.split(separator: "/") {
            node = try lookup(FileName(String(name))!, in: node).node
            known.append(node)
        }
        return try body(node)
    }

    func create(_ name: FileName, in parent: NodeID, flags: Int32 = O_RDWR | O_EXCL) throws(Fault) -> (Entry, Handle) {
        try create(name, in: parent, mode: 0o644, flags: flags, caller: TestHome.caller)
    }

    func makeDirectory(_ name: FileName, in parent: NodeID) throws(Fault) -> Entry {
        try makeDirectory(name, in: parent, mode: 0o755, caller: TestHome.caller)
    }

    /// Makes a file with content and closes it; its node stays looked up.
    @discardableResult
    func make(_ name: FileName, in parent: NodeID, _ text: String = "") throws(Fault) -> NodeID {
        let (entry, handle) = try create(name, in: parent)
        defer { close(handle) }
        try write(handle, Array(text.utf8), at: 0)
        return entry.node
    }

    func write(_ handle: Handle, _ bytes: [UInt8], at offset: Int) throws(Fault) {
        if bytes.isEmpty { return }
        _ = try unsafe write(handle, bytes: bytes.span.bytes, to: Int64(offset))
    }

    func bytes(_ handle: Handle, from offset: Int = 0, count: Int = 1 << 20) throws(Fault) -> [UInt8] {
        var result: [UInt8] = []
        try read(handle, count: count, from: Int64(offset)) { read in
            for index in 0..<read.segmentCount {
                let (buffer, start, count) = read.segment(index)
                result += buffer.bytes(start, count: count)
            }
        }
        return result
    }

    func text(_ handle: Handle) throws(Fault) -> String { String(decoding: try bytes(handle), as: UTF8.self) }

    func bytes(of node: NodeID) throws(Fault) -> [UInt8] {
        let handle = try open(node, flags: O_RDONLY)
        defer { close(handle) }
        return try bytes(handle)
    }

    func text(_ path: String) throws(Fault) -> String {
        try with(path) { (node) throws(Fault) in String(decoding: try bytes(of: node), as: UTF8.self) }
    }

    /// All names of a directory but `.` and `..`, in pieces of so many entries.
    func names(in node: NodeID, piece: Int = .max) throws(Fault) -> [String] {
        var names: [String] = []
        var position: Int64 = 0
        var isMore = true
        while isMore {
            isMore = false
            var taken = 0
            try list(node, from: position, withEntries: false) { item in
                guard taken < piece else {
                    isMore = true
                    return false
                }
                taken += 1
                position = item.next
                names.append(String(decoding: item.terminatedName.dropLast(), as: UTF8.self))
                return true
            }
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}

extension Fault {
    static func errno(_ code: Int32) -> Fault { .system(SystemError(code: code)) }
}
