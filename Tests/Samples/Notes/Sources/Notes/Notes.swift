// The app as a command: each word makes one group of the storage's calls, and prints what came of them.

import ContainerFoundation

#if canImport(UIKit)
    import UIKit
#endif

@main
struct Notes {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        do {
            if words.first == "homes" { return await live(in: Array(words.dropFirst())) }
            if words.first == "replace" { return replace(Array(words.dropFirst())) }
            if words.first == "present" { return present(Array(words.dropFirst())) }
            if words.first == "coordinate" { return coordinate(Array(words.dropFirst())) }
            if words.first == "copy" { return try copy(Array(words.dropFirst())) }
            for word in words {
                switch word {
                case "directories": directories()
                case "save": try save()
                case "overwrite": try overwrite()
                case "list": try list()
                case "exclude": try exclude()
                case "room": try room()
                case "locked": locked()
                case "state": state()
                case "follow": await follow()
                case "delegate": await beTold()
                case "background": await live()
                case "task": beginTask()
                case "attributes": attributes()
                case "writable": writable()
                case "crowd": crowd()
                default:
                    print("\(word): no such word; see the top of main()")
                    exit(64)
                }
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    static let storage = Storage()

    static func tell(_ what: String, _ value: Any?) {
        print("\(what): \(value.map { "\($0)" } ?? "nil")")
    }

    // MARK: The calls of an app

    static func directories() {
        tell("home", NSHomeDirectory())
        tell("documents", URL.documentsDirectory.path)
        tell("library", URL.libraryDirectory.path)
        tell("support", URL.applicationSupportDirectory.path)
        tell("caches", URL.cachesDirectory.path)
        tell("tmp", URL.temporaryDirectory.path)
        tell("first library", storage.files.urls(for: .libraryDirectory, in: .userDomainMask).first?.path)
        tell("made", try? storage.applicationSupport().path)
        tell("downloads", Result { try URL(for: .downloadsDirectory, in: .userDomainMask, create: true).path }.code)
        tell("group", storage.sharedContainer(of: "group.com.example.shared")?.path)
        tell("other group", storage.sharedContainer(of: "group.com.example.other")?.path)
        tell("ubiquity", storage.ubiquityContainer()?.path)
    }

    static func save() throws {
        let secret = try storage.save("plain", secretly: "secret")
        tell("secret", try storage.protection(of: secret)?.rawValue)
        let atomic = try storage.save("plain", secretly: "atomic", options: [.atomic, .completeFileProtection])
        tell("atomic", try storage.attributedProtection(ofFileAt: atomic.path)?.rawValue)
        try storage.files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: atomic.path)
        _ = try storage.save("again", secretly: "atomic", options: .atomic)
        tell("atomic again", try storage.attributedProtection(ofFileAt: atomic.path)?.rawValue)
        let idle = try storage.save("plain", secretly: "idle", options: .completeFileProtectionWhenUserInactive)
        tell("idle", try storage.protection(of: idle)?.rawValue)
        let open = try storage.save("plain", secretly: "open", options: .noFileProtection)
        tell("open", try storage.protection(of: open)?.rawValue)
        try storage.protect(open, .completeUntilFirstUserAuthentication)
        tell("open then", try storage.protection(of: open)?.rawValue)
        try storage.setProtection(.completeUnlessOpen, ofFileAt: open.path)
        tell("open last", try storage.protection(of: open)?.rawValue)

        let vault = try storage.makeVault("vault/inner")
        let inside = vault.appending(path: "note")
        tell("in the vault", storage.files.createFile(atPath: inside.path, contents: Data("plain".utf8)))
        tell("its class", try storage.protection(of: inside)?.rawValue)
        // It has its class from the vault, and what is put in its place comes from elsewhere.
        tell("replaced inside", try storage.replace(inside, with: "plain")?.lastPathComponent)
        tell("its class then", try storage.protection(of: inside)?.rawValue)
        let made = URL.documentsDirectory.appending(path: "made").path
        let attributes: [FileAttributeKey: Any] = [
            .protectionKey: FileProtectionType.complete, .posixPermissions: 0o600,
        ]
        tell("made", storage.files.createFile(atPath: made, contents: Data("plain".utf8), attributes: attributes))
        tell("made class", try storage.attributedProtection(ofFileAt: made)?.rawValue)

        let recording = try storage.beginRecording("recording")
        try recording.write(contentsOf: Data("plain".utf8))
        try recording.close()
        tell("recording", try storage.protection(of: URL.documentsDirectory.appending(path: "recording"))?.rawValue)

        let log = URL.documentsDirectory.appending(path: "log")
        try storage.files.createDirectory(
            at: log, withIntermediateDirectories: false,
            attributes: [.protectionKey: FileProtectionType.completeUnlessOpen])

        let later = try storage.duplicate(open, as: "open later")
        tell("open later", try storage.protection(of: later)?.rawValue)
        let copy = try storage.duplicate(secret, as: "copy")
        tell("copy", try storage.protection(of: copy)?.rawValue)
        try storage.files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: copy.path)
        try storage.excludeFromBackup(copy)
        tell("replaced", try storage.replace(copy, with: "new")?.lastPathComponent)
        tell("mark after", try storage.isExcludedFromBackup(copy))
        tell("content", String(decoding: try Data(contentsOf: copy), as: UTF8.self))
        tell("class after", try storage.protection(of: copy)?.rawValue)
        tell("mode after", try storage.files.attributesOfItem(atPath: copy.path)[.posixPermissions])
    }

    static func room() throws {
        tell("room", try storage.hasRoom(for: 1))
        tell("room for all", try storage.hasRoom(for: .max))
        tell("prefetching", try storage.roomForPrefetching())
    }

    static func exclude() throws {
        let file = try storage.save("again", secretly: "downloaded", options: .atomic)
        tell("before", try storage.isExcludedFromBackup(file))
        try storage.excludeFromBackup(file)
        tell("excluded", try storage.isExcludedFromBackup(file))
        _ = try storage.save("anew", secretly: "downloaded", options: .atomic)
        tell("saved again", try storage.isExcludedFromBackup(file))
        try storage.excludeFromBackup(file)
        try storage.excludeFromBackup(file, false)
        tell("included", try storage.isExcludedFromBackup(file))
        try storage.excludeFromBackup(file)
        tell("copy", try storage.isExcludedFromBackup(storage.duplicate(file, as: "downloaded too")))
        let missing = URL.documentsDirectory.appending(path: "missing")
        tell("missing", Result { try storage.excludeFromBackup(missing) }.code)
        tell("missing read", Result { try storage.isExcludedFromBackup(missing) }.code)
        tell("caches", try storage.isExcludedFromBackup(.cachesDirectory))
    }

    /// The answers of the calls while the device is locked.
    static func locked() {
        let documents = URL.documentsDirectory
        let secret = documents.appending(path: "secret")
        tell("read", Result { try Data(contentsOf: secret) }.code)
        tell("write", Result { try storage.save("x", secretly: "secret") }.code)
        tell("write anew", Result { try storage.save("x", secretly: "secret 2") }.code)
        let options: Data.WritingOptions = [.atomic, .completeFileProtection]
        tell("write atomic", Result { try storage.save("x", secretly: "secret", options: options) }.code)
        let open = documents.appending(path: "open later").path
        tell("protect", Result { try storage.setProtection(.complete, ofFileAt: open) }.code)

        // Where the directory gives a class that the device is locked for, and the app asks for another.
        let report = documents.appending(path: "vault/inner/while locked")
        tell("save", Result { try Data("x".utf8).write(to: report, options: .completeFileProtectionUnlessOpen) }.code)
        tell("its class", try? storage.protection(of: report)?.rawValue)
        tell(
            "save again",
            Result { try Data("y".utf8).write(to: report, options: .completeFileProtectionUnlessOpen) }.code)
        let always = documents.appending(path: "vault/inner/always")
        tell(
            "save openly", Result { try Data("x".utf8).write(to: always, options: [.atomic, .noFileProtection]) }.code)
        tell("its content", (try? Data(contentsOf: always))?.count)
        // In a directory whose files can be made, and not be opened again before the unlock.
        let log = documents.appending(path: "log/today")
        tell("log", Result { try "later".write(to: log, atomically: true, encoding: .utf8) }.code)
        tell("log again", Result { try "at last".write(to: log, atomically: true, encoding: .utf8) }.code)
        let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
        tell("make", storage.files.createFile(atPath: report.path + " too", contents: nil, attributes: attributes))
        tell("replace", Result { try storage.replace(secret, with: "new") }.code)
        tell("exclude", Result { try storage.excludeFromBackup(secret) }.code)
        tell("protection", try? storage.protection(of: secret)?.rawValue)
    }

    /// The first of two items by the second.
    static func replace(_ paths: [String]) {
        let items = paths.map { URL(fileURLWithPath: $0) }
        tell("replace", Result { try storage.files.replaceItemAt(items[0], withItemAt: items[1])! }.code)
    }

    static func copy(_ names: [String]) throws {
        for name in names {
            _ = try storage.duplicate(URL.documentsDirectory.appending(path: name), as: name + " copy")
        }
    }

    /// Eight threads at once, each with files of its own and one that all of them save.
    static func crowd() {
        let done = DispatchSemaphore(value: 0)
        for member in 0..<8 {
            Thread.detachNewThread {
                for number in 0..<25 {
                    do {
                        let own = try storage.save("\(member)", secretly: "crowd \(member) \(number)")
                        let options: Data.WritingOptions = [.atomic, .completeFileProtection]
                        let common = try storage.save("\(member)", secretly: "crowd", options: options)
                        for file in [own, common] {
                            let protection = try storage.protection(of: file)
                            if protection != .complete { tell("wrong", protection) }
                        }
                    } catch {
                        tell("failed", error)
                    }
                }
                done.signal()
            }
        }
        for _ in 0..<8 { done.wait() }
        let names = (try? storage.files.contentsOfDirectory(atPath: URL.documentsDirectory.path)) ?? []
        tell("files", names.count { $0.hasPrefix("crowd") })
        tell("left over", names.count { $0.hasPrefix(".") })
    }
}

#if !os(Linux)
    extension Notes {
        static func live(in homes: [String]) async { print("an app has one home here") }
    }
#endif

extension Result where Failure == any Error {
    /// The Cocoa error's number, or that there was none.
    var code: String {
        switch self {
        case .success(let value): value is Void || value is Data || value is URL ? "done" : "\(value)"
        case .failure(let error): "\((error as? CocoaError)?.code.rawValue ?? (error as NSError).code)"
        }
    }
}
