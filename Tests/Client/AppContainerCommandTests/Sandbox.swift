// A directory with a few apps, in which a shell runs the built command.

import Dispatch
import Foundation

/// Its daemons, mounts and files are removed at the end.
final class Sandbox: Sendable {
    let directory: String

    /// The command is built into the directory of the test program.
    static let command = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "appcontainer").path

    init() throws {
        var directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        directory += "/command-\(UUID().uuidString.prefix(8))"
        self.directory = directory
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for (name, identifier) in [("Notes", "com.example.Notes"), ("Mail", "com.example.Mail")] {
            let app = "\(directory)/\(name).app"
            try FileManager.default.createDirectory(atPath: app, withIntermediateDirectories: true)
            let keys = ["CFBundleIdentifier": identifier, "CFBundleName": name, "CFBundleShortVersionString": "1.2"]
            let list = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
            try list.write(to: URL(filePath: app + "/Info.plist"))
            try Data("\(name)\n".utf8).write(to: URL(filePath: app + "/data.txt"))
        }
        for name in ["m", "m2"] {
            try FileManager.default.createDirectory(atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
        }
    }

    /// Runs a test with a new sandbox, on a thread that may block on the programs it runs.
    static func run(_ body: @Sendable (Sandbox) async throws -> Void) async throws {
        try await withTaskExecutorPreference(WaitingThreads()) {
            let sandbox = try Sandbox()
            defer { sandbox.clear() }
            try await body(sandbox)
        }
    }

    private func clear() {
        let devices = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in devices where FileManager.default.fileExists(atPath: "\(directory)/\(name)/Device.json") {
            _ = try? run("appcontainer shutdown \(name)")
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    struct Run {
        /// Standard output, then standard error.
        let output: String
        let code: Int32
    }

    /// Runs a line in a shell whose working directory is the sandbox.
    func run(_ line: String, input: String = "") throws -> Run {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "umask 022; \(line)"]
        process.currentDirectoryURL = URL(filePath: directory)
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = URL(filePath: Sandbox.command).deletingLastPathComponent().path + ":/usr/bin:/bin"
        environment["COLUMNS"] = "80"
        environment["LC_ALL"] = "C"
        environment["XDG_RUNTIME_DIR"] = nil
        // The transcripts are the same on a machine whose kernel offers io_uring.
        environment["APPCONTAINER_TRANSPORT"] = "dev-fuse"
        process.environment = environment
        // Files, not pipes: a daemon that keeps a descriptor by mistake fails the test instead of hanging it.
        let out = "\(directory)/.out-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: out) }
        for name in [out, out + ".error"] { _ = FileManager.default.createFile(atPath: name, contents: nil) }
        defer { try? FileManager.default.removeItem(atPath: out + ".error") }
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: out))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: out + ".error"))
        let pipe = Pipe()
        process.standardInput = pipe
        // Pool threads block signals, and child processes inherit that: dash would wait for its children for ever.
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        let output = try String(contentsOfFile: out, encoding: .utf8)
        let error = try String(contentsOfFile: out + ".error", encoding: .utf8)
        return Run(output: output + error, code: process.terminationStatus)
    }

    /// The daemon's process id; nil if there is none.
    func daemon(of device: String) throws -> Int32? {
        struct Status: Decodable {
            struct Daemon: Decodable {
                let pid: Int32?
            }
            let daemon: Daemon
        }
        let answer = try run("appcontainer status \(device) --json").output
        return try JSONDecoder().decode(Status.self, from: Data(answer.utf8)).daemon.pid
    }

    /// Replaces values that differ between runs by words.
    func anonymous(_ text: String) -> String {
        var text = text.replacing(directory, with: "<DIRECTORY>")
        text.replace(/[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}/, with: "<UUID>")
        text.replace(/process [0-9]+/, with: "process <PID>")
        text.replace(/"pid" : [0-9]+/, with: "\"pid\" : <PID>")
        text.replace(/(\/run\/appcontainer|\/tmp\/appcontainer-[0-9]+)\/[0-9a-f]{16}\.sock/, with: "<SOCKET>")
        text.replace(/stored in .*/, with: "stored in <SIZE>")
        text.replace(/"storedSize" : [0-9]+/, with: "\"storedSize\" : <SIZE>")
        text.replace(/(Capacity|Available|Purgeable):( +)[^\n]*/) { match in
            "\(match.1):\(match.2)<SIZE>"
        }
        text.replace(/"(capacity|used|available[A-Za-z]*|purgeable)" : [0-9]+/) { "\"\($0.1)\" : <SIZE>" }
        text.replace(/Owner:( +)[a-z0-9_-]+,/, with: { "Owner:\($0.1)<USER>," })
        text.replace(/"modified" : "[^"]*"/, with: "\"modified\" : <TIME>")
        text.replace(/"(owner|group)" : [0-9]+/, with: { "\"\($0.1)\" : <ID>" })
        return text
    }
}

/// Threads outside the pool that runs all other tests, one for each core.
private final class WaitingThreads: TaskExecutor {
    private let queue = DispatchQueue(label: "sandbox")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
