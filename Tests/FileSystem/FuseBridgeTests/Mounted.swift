// A mount for one test, removed at its end. It fails without /dev/fuse.

import Foundation
import Platform
import SandboxModel
import Synchronization
import Testing

@testable import FuseBridge

struct Mounted {
    let fileSystem: MemoryFileSystem
    let session: Session
    let path: String

    /// /dev/fuse, and io_uring where the kernel's setting allows it. `APPCONTAINER_TEST_TRANSPORT=dev-fuse` leaves
    /// io_uring out where something else changes the setting.
    static let transports: [TransportChoice] = {
        let isLeftOut = ProcessInfo.processInfo.environment["APPCONTAINER_TEST_TRANSPORT"] == "dev-fuse"
        return isLeftOut || !isOffered ? [.devFuse] : [.devFuse, .ioUring]
    }()

    static let setting = "/sys/module/fuse/parameters/enable_uring"

    /// The kernel's setting, as it is now.
    static var isOffered: Bool { (try? HostPath.contents(setting))?.first == UInt8(ascii: "Y") }

    /// Whether this process may change it.
    static var canBeSwitched: Bool { unsafe access(setting, W_OK) == 0 }

    /// Runs the body on a mount of its own over each transport.
    static func run(timeout: Double = 3600, _ body: (Mounted) throws -> Void) throws {
        for transport in transports { try run(over: transport, timeout: timeout, body) }
    }

    /// - Parameter plan: of the rings, if not that of this machine.
    static func run(
        over transport: TransportChoice, plan: RingPlan? = nil, timeout: Double = 3600, _ body: (Mounted) throws -> Void
    ) throws {
        var template = Array("/tmp/fusebridge.XXXXXX".utf8CString)
        let path = unsafe template.withUnsafeMutableBufferPointer { unsafe String(cString: mkdtemp($0.baseAddress!)) }
        defer { unsafe rmdir(path) }
        let fileSystem = MemoryFileSystem(timeout: timeout)
        var options = Session.Options(source: "a, test", subtype: "memory", otherUsers: false)
        options.transport = transport
        options.ringPlan = plan
        options.replyDropped = { line in fileSystem.state.withLock { $0.dropped.append(line) } }
        options.failed = { line in fileSystem.state.withLock { $0.failures.append(line) } }
        let session = try Session.mount(fileSystem, at: path, options: options)
        let mounted = Mounted(fileSystem: fileSystem, session: session, path: path)
        defer {
            try? Session.unmount(path, lazily: true)
            session.waitUntilEnded()
        }
        try #require(session.transport.rawValue == transport.rawValue)
        try body(mounted)
    }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String, flags: Int32 = O_CREAT | O_WRONLY | O_TRUNC) throws {
        let file = try Descriptor.open(path: path(name), flags: flags, mode: 0o644)
        try file.append(Array(text.utf8))
    }

    func text(_ name: String) throws -> String {
        String(decoding: try HostPath.contents(path(name)), as: UTF8.self)
    }

    func names(_ directory: String = "") throws -> [String] {
        let reader = DirectoryReader(
            try Descriptor.open(path: path(directory), flags: O_RDONLY | O_DIRECTORY), bufferSize: 4096)
        var names: [String] = []
        while let entry = try reader.next() { names.append(entry.name.text) }
        return names
    }
}

/// The errno of a call that returned -1, otherwise 0.
func code(_ result: some BinaryInteger) -> Int32 { result == -1 ? errno : 0 }
