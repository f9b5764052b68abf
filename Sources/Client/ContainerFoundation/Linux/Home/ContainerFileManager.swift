// `FileManager.default`: Foundation's file manager with the app's home and file protection.

public import Foundation
import Platform
import SandboxModel

extension FileManager {
    /// The process's file manager. `FileManager()` makes one of Foundation's own, which knows nothing of containers.
    public class var `default`: FileManager { ContainerFileManager.shared }
}

final class ContainerFileManager: FileManager, @unchecked Sendable {
    // No state but that of its superclass, which is Sendable.
    static let shared = ContainerFileManager()

    // MARK: Attributes

    override func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        var attributes = attributes
        if let protection = attributes.removeValue(forKey: .protectionKey) {
            // First: the mode may remove the permission to set it.
            try onItem(path) { () throws(SystemError) in
                guard let item = MountedItem(path) else {
                    _ = try HostPath.status(path)
                    return
                }
                try item.setProtection(try ProtectionClass(foundationValue: protection))
            }
        }
        if !attributes.isEmpty { try super.setAttributes(attributes, ofItemAtPath: path) }
    }

    override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try super.attributesOfItem(atPath: path)
        if let item = MountedItem(path, following: false), let protection = try? item.protection() {
            attributes[.protectionKey] = protection.fileProtection
        }
        return attributes
    }

    // MARK: Making

    override func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        guard MountedItem(path) != nil else {
            return super.createFile(atPath: path, contents: data, attributes: attributes)
        }
        var rest = attributes ?? [:]
        do {
            var options: Data.WritingOptions = .atomic
            if let value = rest.removeValue(forKey: .protectionKey) {
                options.formUnion(try ProtectionClass(foundationValue: value).writingOption)
            }
            try (data ?? Data()).write(to: URL(fileURLWithPath: path), options: options)
            if !rest.isEmpty { try setAttributes(rest, ofItemAtPath: path) }
            return true
        } catch {
            return false
        }
    }

    override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        guard url.isFileURL, attributes?[.protectionKey] != nil else {
            return try super.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
        try createDirectory(
            atPath: url.path, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }

    override func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        guard var rest = attributes, let value = rest.removeValue(forKey: .protectionKey), let item = MountedItem(path)
        else {
            return try super.createDirectory(
                atPath: path, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
        let protection = try onItem(item.path) { () throws(SystemError) in try ProtectionClass(foundationValue: value) }
        // Only the topmost new directory gets the class: those below inherit it.
        var top = item.path
        while createIntermediates, let parent = HostPath.place(of: top)?.directory, !fileExists(atPath: parent) {
            top = parent
        }
        if !fileExists(atPath: top) {
            // The class first: the mode may remove the permission to set it.
            try super.createDirectory(atPath: top, withIntermediateDirectories: false, attributes: nil)
            do {
                try setAttributes([.protectionKey: protection.fileProtection], ofItemAtPath: top)
                if !rest.isEmpty { try super.setAttributes(rest, ofItemAtPath: top) }
            } catch {
                // rmdir(2) fails if something was put there meanwhile.
                try? HostPath.removeDirectory(top)
                throw error
            }
            if top == item.path { return }
        }
        try super.createDirectory(
            atPath: item.path, withIntermediateDirectories: createIntermediates, attributes: rest)
    }

    // MARK: Copying

    override func copyItem(at source: URL, to target: URL) throws {
        guard source.isFileURL, target.isFileURL else { return try super.copyItem(at: source, to: target) }
        try copyItem(atPath: source.path, toPath: target.path)
    }

    override func copyItem(atPath source: String, toPath target: String) throws {
        guard let item = MountedItem(target, following: false) else {
            return try super.copyItem(atPath: source, toPath: target)
        }
        try ItemCopy.copy(HostPath.withoutTrailingSlashes(source), to: item.path)
    }

    // MARK: Directories

    override var homeDirectoryForCurrentUser: URL { URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory) }

    override func homeDirectory(forUser userName: String) -> URL? {
        guard let home = ContainerHome.path else { return super.homeDirectory(forUser: userName) }
        return URL(filePath: home, directoryHint: .isDirectory)
    }

    override var temporaryDirectory: URL { URL(filePath: NSTemporaryDirectory(), directoryHint: .isDirectory) }

    override func urls(for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask) -> [URL] {
        guard domainMask.contains(.userDomainMask) else { return super.urls(for: directory, in: domainMask) }
        let home = ContainerHome.path
        let foundations = super.urls(for: directory, in: domainMask)
        // Foundation on Linux has no Library directory, and apps trap on the `first` of an empty list.
        guard home != nil || foundations.isEmpty else { return foundations }
        let paths = HomeDirectories(home: home ?? NSHomeDirectory()).paths(of: directory)
        return paths.map { URL(filePath: $0, directoryHint: .isDirectory) }
            + super.urls(for: directory, in: domainMask.subtracting(.userDomainMask))
    }
}

extension ProtectionClass {
    fileprivate var writingOption: Data.WritingOptions {
        switch self {
        case .complete: .completeFileProtection
        case .completeUnlessOpen: .completeFileProtectionUnlessOpen
        case .completeUntilFirstUserAuthentication: .completeFileProtectionUntilFirstUserAuthentication
        case .none: .noFileProtection
        }
    }
}
