// Tests of the standard directories of a home.

import ContainerFoundation
import Testing

@Suite struct HomeDirectoriesTests {
    private func paths(_ directory: FileManager.SearchPathDirectory) -> [String] {
        FileManager.default.urls(for: directory, in: .userDomainMask).map(\.path)
    }

    @Test func `a task's home has the directories that iOS has`() {
        ContainerHome.$current.withValue("/home of/app") {
            #expect(NSHomeDirectory() == "/home of/app")
            #expect(NSTemporaryDirectory() == "/home of/app/tmp/")
            #expect(URL.homeDirectory.path == "/home of/app")
            #expect(URL.temporaryDirectory.path == "/home of/app/tmp")
            #expect(FileManager.default.temporaryDirectory.path == "/home of/app/tmp")
            #expect(FileManager.default.homeDirectoryForCurrentUser.path == "/home of/app")
            #expect(URL.documentsDirectory.absoluteString == "file:///home%20of/app/Documents/")
            #expect(URL.libraryDirectory.path == "/home of/app/Library")
            #expect(URL.applicationSupportDirectory.path == "/home of/app/Library/Application Support")
            #expect(URL.cachesDirectory.path == "/home of/app/Library/Caches")
            #expect(URL.downloadsDirectory.path == "/home of/app/Downloads")
            #expect(URL.trashDirectory.path == "/home of/app/.Trash")
            #expect(paths(.libraryDirectory) == ["/home of/app/Library"])
            #expect(paths(.documentDirectory) == ["/home of/app/Documents"])
            #expect(
                NSSearchPathForDirectoriesInDomains(.cachesDirectory, .userDomainMask, true) == [
                    "/home of/app/Library/Caches"
                ])
            #expect(
                NSSearchPathForDirectoriesInDomains(.cachesDirectory, .userDomainMask, false) == ["~/Library/Caches"])
        }
    }

    @Test func `a home that was moved is found where it is`() {
        ContainerHome.$current.withValue("/moved/1") {
            ContainerHome.move("/moved/1/", to: "/moved/2")
            #expect(NSHomeDirectory() == "/moved/2")
            ContainerHome.move("/moved/2", to: "/moved/3/")
            #expect(URL.documentsDirectory.path == "/moved/3/Documents")
            #expect(NSTemporaryDirectory() == "/moved/3/tmp/")
        }
        ContainerHome.$current.withValue("/moved/2") { #expect(NSHomeDirectory() == "/moved/3") }
        ContainerHome.$current.withValue("/moved/3") { #expect(NSHomeDirectory() == "/moved/3") }
    }

    @Test func `a slash at the end of a home changes nothing`() {
        ContainerHome.$current.withValue("/home/app//") {
            #expect(URL.documentsDirectory.path == "/home/app/Documents")
            #expect(NSTemporaryDirectory() == "/home/app/tmp/")
        }
    }

    @Test func `two hundred tasks at once each have their own home`() async {
        let wrong = await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await ContainerHome.$current.withValue("/home/\(number)") {
                        await Task.yield()
                        let found = await Task { URL.documentsDirectory.path }.value
                        return found == "/home/\(number)/Documents" ? 0 : 1
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test func `without a home Foundation's directories are found, and a Library beside them`() {
        ContainerHome.$current.withValue(nil) {
            for directory in [FileManager.SearchPathDirectory.documentDirectory, .cachesDirectory, .downloadsDirectory]
            {
                #expect(paths(directory) == FileManager().urls(for: directory, in: .userDomainMask).map(\.path))
            }
            #expect(NSTemporaryDirectory() == FileManager().temporaryDirectory.path + "/")
            #expect(paths(.libraryDirectory) == [NSHomeDirectory() + "/Library"])
            #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.a") == nil)
            #expect(FileManager.default.url(forUbiquityContainerIdentifier: nil) == nil)
        }
    }

    @Test func `containers are those that the home has`() throws {
        let home = try Workplace()
        for path in ["Groups/group.a", "iCloud/iCloud.b", "iCloud/iCloud.a"] {
            try FileManager.default.createDirectory(at: home(path), withIntermediateDirectories: true)
        }
        _ = try home.file("Groups/file")
        ContainerHome.$current.withValue(home.path) {
            let files = FileManager.default
            #expect(
                files.containerURL(forSecurityApplicationGroupIdentifier: "group.a")?.path
                    == home("Groups/group.a").path)
            for none in ["group.b", "", "..", "../iCloud", "file"] {
                #expect(files.containerURL(forSecurityApplicationGroupIdentifier: none) == nil)
            }
            #expect(files.url(forUbiquityContainerIdentifier: "iCloud.b")?.path == home("iCloud/iCloud.b").path)
            #expect(files.url(forUbiquityContainerIdentifier: nil)?.path == home("iCloud/iCloud.a").path)
        }
    }

    @Test func `an item is replaced from a new directory of the home's own`() throws {
        let home = try Workplace()
        try FileManager.default.createDirectory(at: home("tmp"), withIntermediateDirectories: false)
        try ContainerHome.$current.withValue(home.path) {
            let made = try (0..<2).map { _ in
                try URL(
                    for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: home("Documents/a"),
                    create: true)
            }
            #expect(Set(made.map(\.path)).count == 2)
            for directory in made {
                #expect(directory.deletingLastPathComponent().path == home("tmp").path)
                #expect(FileManager.default.fileExists(atPath: directory.path))
            }
        }
    }

    @Test func `a standard directory is made when that is asked for`() throws {
        let home = try Workplace()
        try ContainerHome.$current.withValue(home.path) {
            let asked = try URL(for: .applicationSupportDirectory, in: .userDomainMask)
            #expect(!FileManager.default.fileExists(atPath: asked.path))
            let made = try URL(for: .applicationSupportDirectory, in: .userDomainMask, create: true)
            #expect(made == asked)
            #expect(FileManager.default.fileExists(atPath: home("Library/Application Support").path))
        }
    }
}
