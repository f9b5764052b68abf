// The containers of an app beside its own: of its groups, and in iCloud; and where an item is replaced from.

public import Foundation

extension FileManager {
    /// The container of a group that the app is entitled to; nil for any other, and where there is no home.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        container(groupIdentifier, in: "Groups")
    }

    /// An iCloud container that the app is entitled to; nil for any other, and where there is no home.
    ///
    /// - Parameter containerIdentifier: nil is the first one, by name.
    public func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? {
        if let containerIdentifier { return container(containerIdentifier, in: "iCloud") }
        guard let home = ContainerHome.path else { return nil }
        let names = (try? contentsOfDirectory(atPath: home + "/iCloud")) ?? []
        return names.min().flatMap { container($0, in: "iCloud") }
    }

    private func container(_ identifier: String, in directory: String) -> URL? {
        guard let home = ContainerHome.path, !identifier.isEmpty, !identifier.contains("/"), !identifier.hasPrefix(".")
        else { return nil }
        let path = "\(home)/\(directory)/\(identifier)"
        var isDirectory = false
        guard fileExists(atPath: path, isDirectory: &isDirectory), isDirectory else { return nil }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// Finds a standard directory, and makes it if that is asked for.
    ///
    /// `itemReplacementDirectory` is a new directory in the home's `tmp` for what lies in the home: what is made there can
    /// take its place by a rename.
    /// - Throws: a `CocoaError`: `fileWriteNoPermission` for what an app cannot make, such as `Downloads`.
    public func url(
        for directory: SearchPathDirectory, in domain: SearchPathDomainMask, appropriateFor reference: URL?,
        create shouldCreate: Bool
    ) throws -> URL {
        guard directory == .itemReplacementDirectory, domain.contains(.userDomainMask), let home = ContainerHome.path,
            let reference, reference.path.hasPrefix(home + "/")
        else {
            return try self.Foundation::url(
                for: directory, in: domain, appropriateFor: reference, create: shouldCreate)
        }
        let name = "(A Document Being Saved By \(ProcessInfo.processInfo.processName)"
        var number = 1
        while true {
            let path = "\(home)/tmp/\(name)\(number == 1 ? "" : " \(number)"))"
            do {
                try createDirectory(atPath: path, withIntermediateDirectories: false)
                return URL(filePath: path, directoryHint: .isDirectory)
            } catch CocoaError.fileWriteFileExists {
                number += 1
            }
        }
    }
}
