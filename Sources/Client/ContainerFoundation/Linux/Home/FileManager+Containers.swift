// The group and iCloud containers of an app, and the directory for item replacement.

public import Foundation
import Platform
import SandboxModel

extension FileManager {
    /// The container of a group that the app is entitled to; nil for other groups, and without a home.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        container(groupIdentifier, in: HomeLayout.groups)
    }

    /// An iCloud container that the app is entitled to; nil for other containers, and without a home.
    ///
    /// - Parameter containerIdentifier: nil for the first container by name.
    public func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? {
        if let containerIdentifier { return container(containerIdentifier, in: HomeLayout.iCloud) }
        guard let home = ContainerHome.path else { return nil }
        let names = (try? contentsOfDirectory(atPath: "\(home)/\(HomeLayout.iCloud.text)")) ?? []
        return names.min().flatMap { container($0, in: HomeLayout.iCloud) }
    }

    private func container(_ identifier: String, in directory: FileName) -> URL? {
        guard let home = ContainerHome.path, !identifier.isEmpty, !identifier.utf8.contains(UInt8(ascii: "/")),
            identifier.utf8.first != UInt8(ascii: ".")
        else { return nil }
        let path = "\(home)/\(directory.text)/\(identifier)"
        var isDirectory = false
        guard fileExists(atPath: path, isDirectory: &isDirectory), isDirectory else { return nil }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// Finds a standard directory, and creates it if `shouldCreate`.
    ///
    /// `itemReplacementDirectory` is a new directory in the home's `tmp`, for items of the home: an item made there can
    /// replace them by a rename.
    /// - Throws: a `CocoaError`: `fileWriteNoPermission` for a directory that an app cannot create, such as
    ///   `Downloads`.
    public func url(
        for directory: SearchPathDirectory, in domain: SearchPathDomainMask, appropriateFor reference: URL?,
        create shouldCreate: Bool
    ) throws -> URL {
        guard directory == .itemReplacementDirectory, domain.contains(.userDomainMask), let home = ContainerHome.path,
            let reference, HostPath.lies(reference.path, below: home)
        else {
            return try self.Foundation::url(
                for: directory, in: domain, appropriateFor: reference, create: shouldCreate)
        }
        let name = "(A Document Being Saved By \(ProcessInfo.processInfo.processName)"
        var number = 1
        while true {
            let path = "\(home)/\(HomeLayout.temporary.text)/\(name)\(number == 1 ? "" : " \(number)"))"
            do {
                try createDirectory(atPath: path, withIntermediateDirectories: false)
                return URL(filePath: path, directoryHint: .isDirectory)
            } catch CocoaError.fileWriteFileExists {
                number += 1
            }
        }
    }
}
