// A directory of the host, not on a mount, for one test.

import Glibc
import Platform
import SandboxModel
import Testing

@testable import ContainerFoundation

/// Removed with its contents when it is released.
final class Workplace: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "appcontainer-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.path }

    func callAsFunction(_ name: String) -> URL { url.appending(path: name) }

    /// Waits until coordinators have as many claims on items in the directory: they hold them, or wait for one another.
    func awaitClaims(_ count: Int) {
        let host = CoordinationPlace.host
        let meeting = ([host.parent] + host.meetingPlace.map(\.text)).joined(separator: "/")
        func isOnItemHere(_ name: String) -> Bool {
            name.hasSuffix(".claim")
                && ((try? text(of: URL(filePath: "\(meeting)/\(name)")))?.contains(url.lastPathComponent) ?? false)
        }
        for _ in 0..<20_000 {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: meeting)) ?? []
            if names.count(where: isOnItemHere) >= count { return }
            usleep(1000)
        }
        Issue.record("nobody claims the items in \(path)")
    }

    /// Removes a tree that is too deep for Foundation.
    func removeTree(_ name: FileName) throws { try Descriptor.openDirectory(path: path).removeTree(name) }

    /// Makes a file with some text.
    func file(_ name: String, _ text: String = "text", mode: Int = 0o644) throws -> URL {
        let file = self(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file
    }
}

func text(of url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

func mode(of url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
}

/// The names of all extended attributes on the host.
func attributes(of url: URL) throws -> [String] {
    try AttributeHolder(path: url.path, following: false).names().map { String(decoding: $0, as: UTF8.self) }
}

/// The code of the Cocoa error that a call throws; nil if it throws none.
func code(_ body: () throws -> Void) -> CocoaError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CocoaError)?.code
    }
}
