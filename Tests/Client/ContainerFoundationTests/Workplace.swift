// A directory of the host, not on a mount, for one test.

import ContainerFoundation
import Platform
import SandboxModel

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
