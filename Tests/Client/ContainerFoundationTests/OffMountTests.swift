// Tests that off a mount every call does what Foundation's does, and leaves no files.

import ContainerFoundation
import Testing

@Suite struct OffMountTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
    }

    @Test(
        arguments: [
            [], .atomic, .completeFileProtection, [.atomic, .completeFileProtectionUnlessOpen], .noFileProtection,
            .completeFileProtectionWhenUserInactive,
        ] as [Data.WritingOptions])
    func `data is written and has no attribute`(options: Data.WritingOptions) throws {
        let file = place("file")
        try Data("text".utf8).write(to: file, options: options)
        #expect(try text(of: file) == "text")
        #expect(try attributes(of: file) == [])
    }

    @Test func `text is written, to files and to streams`() throws {
        let file = place("file")
        try "text".write(to: file, atomically: true, encoding: .utf8)
        #expect(try text(of: file) == "text")
        try "a text".dropFirst(2).uppercased().write(toFile: file.path, atomically: true, encoding: .ascii)
        #expect(try text(of: file) == "TEXT")
        #expect(
            code { try "é".write(to: file, atomically: true, encoding: .ascii) }
                == .fileWriteInapplicableStringEncoding)
        #expect(try text(of: file) == "TEXT")
        var stream = ""
        "text".write(to: &stream)
        #expect(stream == "text")
    }

    @Test func `an existing file is not overwritten if that is forbidden`() throws {
        let file = try place.file("file")
        let options: Data.WritingOptions = [.withoutOverwriting, .completeFileProtection]
        #expect(code { try Data().write(to: file, options: options) } == .fileWriteFileExists)
        #expect(try text(of: file) == "text")
    }

    @Test func `a file is neither excluded nor protected, and nobody says so`() throws {
        var file = try place.file("file")
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try file.setResourceValues(values)
        try (file as NSURL).setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey)
        try (file as NSURL).setResourceValue(true, forKey: .isExcludedFromBackupKey)
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.complete], ofItemAtPath: file.path)
        #expect(try attributes(of: file) == [])
        let read = try file.resourceValues(forKeys: [.isExcludedFromBackupKey, .fileProtectionKey, .fileSizeKey])
        #expect(read.isExcludedFromBackup == nil)
        #expect(read.fileProtection == nil)
        #expect(read.fileSize == 4)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.protectionKey] == nil)
    }

    @Test func `a missing file has no resource values, and none can be set`() throws {
        var file = place("none")
        var values = URLResourceValues()
        #expect(code { try file.setResourceValues(values) } == nil)
        values.isExcludedFromBackup = true
        #expect(code { try file.setResourceValues(values) } == .fileNoSuchFile)
        let old = file as NSURL
        #expect(
            code { try old.setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey) }
                == .fileNoSuchFile)
        #expect(code { try old.setResourceValues([.isExcludedFromBackupKey: true]) } == .fileNoSuchFile)
        #expect(code { _ = try file.resourceValues(forKeys: [.isExcludedFromBackupKey]) } == .fileReadNoSuchFile)
        var value: AnyObject?
        #expect(code { try old.getResourceValue(&value, forKey: .fileProtectionKey) } == .fileReadNoSuchFile)
    }

    @Test func `a single value is read as Foundation has it`() throws {
        let file = try place.file("file") as NSURL
        var value: AnyObject?
        try file.getResourceValue(&value, forKey: .fileSizeKey)
        #expect(value as? Int == 4)
        try file.getResourceValue(&value, forKey: .volumeAvailableCapacityForImportantUsageKey)
        #expect(try #require(value as? Int64) > 0)
        try file.getResourceValue(&value, forKey: .fileProtectionKey)
        #expect(value == nil)
    }

    /// A copy off the mount with all attributes does not count as a file of a mount.
    @Test func `an attribute that was copied here is no class`() throws {
        let file = try place.file("file")
        let attributes = ["user.appcontainer.protection": Data("NSFileProtectionComplete".utf8)]
        try FileManager.default.setAttributes(
            [FileAttributeKey(rawValue: "NSFileExtendedAttributes"): attributes], ofItemAtPath: file.path)
        #expect(try file.resourceValues(forKeys: [.fileProtectionKey]).fileProtection == nil)
    }

    @Test func `files and directories are made`() throws {
        let files = FileManager.default
        let attributes: [FileAttributeKey: Any] = [
            .protectionKey: FileProtectionType.complete, .posixPermissions: 0o700,
        ]
        let directory = place("a/b")
        try files.createDirectory(at: directory, withIntermediateDirectories: true, attributes: attributes)
        #expect(try mode(of: directory) == 0o700)
        let file = directory.appending(path: "file")
        #expect(files.createFile(atPath: file.path, contents: Data("x".utf8), attributes: attributes))
        #expect(try text(of: file) == "x")
        #expect(try ContainerFoundationTests.attributes(of: file) == [])
    }

    @Test func `the capacities are those of the filesystem`() throws {
        let keys: Set<URLResourceKey> = [
            .volumeAvailableCapacityForImportantUsageKey, .volumeAvailableCapacityForOpportunisticUsageKey,
        ]
        let values = try place.url.resourceValues(forKeys: keys)
        #expect(try #require(values.volumeAvailableCapacityForImportantUsage) > 0)
        #expect(try #require(values.volumeAvailableCapacityForOpportunisticUsage) > 0)
        #expect(Set(values.allValues.keys) == keys)
        #expect(values.fileProtection == nil)
    }

    @Test @MainActor func `nothing is locked`() {
        ContainerHome.$current.withValue(place.path) {
            #expect(UIApplication.shared.isProtectedDataAvailable)
            let name = UIApplication.protectedDataWillBecomeUnavailableNotification
            #expect(name.rawValue == "UIApplicationProtectedDataWillBecomeUnavailable")
        }
        ContainerHome.$current.withValue(nil) { #expect(UIApplication.shared.isProtectedDataAvailable) }
    }

    @Test @MainActor func `each home has one application`() {
        let first = ContainerHome.$current.withValue("/home/1") { UIApplication.shared }
        let again = ContainerHome.$current.withValue("/home/1/") { UIApplication.shared }
        let second = ContainerHome.$current.withValue("/home/2") { UIApplication.shared }
        #expect(first === again)
        #expect(first !== second)
    }
}
