// Where a note-taking app keeps what, and how: the calls of Apple's articles on file protection, on what stays out of
// backups, and on the directories of an app, each made here as an app makes it.

import ContainerFoundation

struct Storage {
    let files = FileManager.default

    // MARK: Encrypting your app's files

    /// A note that is readable while the device is unlocked: protected from its first byte on.
    func save(_ text: String, secretly name: String, options: Data.WritingOptions = .completeFileProtection) throws
        -> URL
    {
        let file = URL.documentsDirectory.appending(path: name)
        try Data(text.utf8).write(to: file, options: options)
        return file
    }

    /// A recording that goes on when the device is locked meanwhile.
    func beginRecording(_ name: String) throws -> FileHandle {
        let file = URL.documentsDirectory.appending(path: name)
        try Data().write(to: file, options: .completeFileProtectionUnlessOpen)
        return try FileHandle(forWritingTo: file)
    }

    /// Protects, or protects less, a file that is there already.
    func protect(_ file: URL, _ protection: URLFileProtection) throws {
        try (file as NSURL).setResourceValue(protection, forKey: .fileProtectionKey)
    }

    func protection(of file: URL) throws -> URLFileProtection? {
        try file.resourceValues(forKeys: [.fileProtectionKey]).fileProtection
    }

    /// A directory all of whose files are protected, whoever makes them.
    func makeVault(_ path: String) throws -> URL {
        let vault = URL.documentsDirectory.appending(path: path, directoryHint: .isDirectory)
        try files.createDirectory(
            at: vault, withIntermediateDirectories: true, attributes: [.protectionKey: FileProtectionType.complete])
        return vault
    }

    /// The older way, with the file manager's attributes.
    func setProtection(_ protection: FileProtectionType, ofFileAt path: String) throws {
        try files.setAttributes([.protectionKey: protection], ofItemAtPath: path)
    }

    func attributedProtection(ofFileAt path: String) throws -> FileProtectionType? {
        try files.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
    }

    // MARK: Optimizing your app's data for iCloud Backup

    /// Keeps what can be downloaded again out of backups. An atomic save of the file takes the mark away.
    func excludeFromBackup(_ file: URL, _ isExcluded: Bool = true) throws {
        var file = file
        var values = URLResourceValues()
        values.isExcludedFromBackup = isExcluded
        try file.setResourceValues(values)
    }

    func isExcludedFromBackup(_ file: URL) throws -> Bool? {
        try file.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup
    }

    // MARK: The directories of an app

    /// Files that the app needs and the user does not see. The directory is the app's to make.
    func applicationSupport() throws -> URL {
        try files.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    }

    /// Files that other apps of the same group see.
    func sharedContainer(of group: String) -> URL? {
        files.containerURL(forSecurityApplicationGroupIdentifier: group)
    }

    /// Files that the user's other devices get.
    func ubiquityContainer() -> URL? {
        files.url(forUbiquityContainerIdentifier: nil)
    }

    // MARK: Safe saves and copies

    /// Makes the new document complete in a directory of its own, and puts it in the place of the old one.
    func replace(_ document: URL, with text: String) throws -> URL? {
        let directory = try files.url(
            for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: document, create: true)
        defer { try? files.removeItem(at: directory) }
        let new = directory.appending(path: document.lastPathComponent)
        try Data(text.utf8).write(to: new)
        return try files.replaceItemAt(document, withItemAt: new)
    }

    func duplicate(_ file: URL, as name: String) throws -> URL {
        let copy = file.deletingLastPathComponent().appending(path: name)
        try files.copyItem(at: file, to: copy)
        return copy
    }

    // MARK: Checking volume storage capacity

    /// Whether there is room for something that the user asked for.
    func hasRoom(for bytes: Int64) throws -> Bool {
        let key = URLResourceKey.volumeAvailableCapacityForImportantUsageKey
        let values = try URL.documentsDirectory.resourceValues(forKeys: [key])
        return values.volumeAvailableCapacityForImportantUsage.map { $0 >= bytes } ?? false
    }

    func roomForPrefetching() throws -> Int64? {
        let key = URLResourceKey.volumeAvailableCapacityForOpportunisticUsageKey
        return try URL.cachesDirectory.resourceValues(forKeys: [key]).volumeAvailableCapacityForOpportunisticUsage
    }
}
