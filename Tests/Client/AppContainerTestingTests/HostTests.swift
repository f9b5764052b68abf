// Tests on a host that can have no device: the message names the missing one of many needs, and the remedy.

import Foundation
import Testing

@testable import AppContainer

@Suite struct HostTests {
    private let directory = Directory()

    /// Runs a test with the trait, which fails.
    /// - Returns: what it said.
    private func complaint(
        _ environment: [String: String] = [:], on host: [String] = ["/usr/bin/env"]
    ) throws -> String {
        let run = try Run(
            Order.process(
                nil, ["--testing-library", "swift-testing", "--filter", "ObedientTests"], in: directory.path,
                environment: environment, on: host))
        #expect(run.status == 1, "\(run.output)")
        // An error that is caught is one line; its end is another's beginning.
        let line = run.output.split(separator: "\n").first { $0.contains("Caught error: ") }
        let complaint = try #require(line, "\(run.output)").split(separator: "Caught error: ").last
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(left.filter { $0 != "host" } == [])
        return String(try #require(complaint))
    }

    /// A command that changes the host for a program and all that it starts, and for nobody else.
    private func host(_ script: String) -> [String] {
        let namespace = getuid() == 0 ? ["--mount"] : ["--mount", "--map-current-user", "--keep-caps"]
        return ["/usr/bin/unshare"] + namespace + ["/bin/sh", "-e", "-c", script + #"; exec "$@""#, "sh"]
    }

    @Test func `the program that the environment names is none`() throws {
        let garbage = directory["host"]
        try Data("garbage".utf8).write(to: URL(filePath: garbage))
        for (program, words) in [
            (
                directory["none"],
                "the environment variable APPCONTAINER names \(directory["none"]), which is not a program"
            ),
            ("/etc/passwd", "the environment variable APPCONTAINER names /etc/passwd, which is not a program"),
            ("/", "the environment variable APPCONTAINER names /, which is not a program"),
            ("/bin/true", "/bin/true ended without an answer"),
            ("/usr/bin/yes", "/usr/bin/yes did not answer as this library's version"),
        ] {
            let said = try complaint(["APPCONTAINER": program])
            #expect(said.hasPrefix(words))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: garbage)
        #expect(try complaint(["APPCONTAINER": garbage]) == "\(garbage) cannot be started: Exec format error")
    }

    @Test(arguments: ["many", "0", "-1", "2.5"]) func `the number of devices at a time is none`(number: String) throws {
        let said = try complaint(["APPCONTAINER_TEST_DEVICES": number])
        #expect(said.hasPrefix("the environment variable APPCONTAINER_TEST_DEVICES is \(number); set it to how many"))
    }

    @Test func `the temporary directory is missing, or unsuitable for devices`() throws {
        let end = "name another directory in the environment variable TMPDIR)"
        let missing = try complaint(["TMPDIR": directory["none"]])
        #expect(missing.hasPrefix("\(directory["none"]) is not a directory; make it first") && missing.hasSuffix(end))
        let unsuitable = try complaint(["TMPDIR": "/proc"])
        #expect(unsuitable.contains("would be on a host filesystem (proc) that lacks") && unsuitable.hasSuffix(end))
    }

    @Test func `there is no FUSE`() throws {
        let place = directory["host"]
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let devices = ["null", "zero", "full", "random", "urandom", "tty"].joined(separator: " ")
        let said = try complaint(
            on: host(
                """
                mount -t tmpfs none \(place)
                for name in \(devices); do touch \(place)/$name; mount --bind /dev/$name \(place)/$name; done
                mount --rbind \(place) /dev
                """))
        #expect(said.hasPrefix("/dev/fuse is missing: "))
    }

    @Test func `there is no right to mount`() throws {
        // A user has it by fusermount3, which is root by its set-user-ID bit.
        let less = getuid() == 0 ? ["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"] : ["--no-new-privs"]
        let said = try complaint(on: ["/usr/bin/setpriv"] + less)
        #expect(said.hasPrefix("this process may not mount"))
        #expect(said.contains("in a container, give it --cap-add SYS_ADMIN --device /dev/fuse"))
    }

    @Test(arguments: [20, 24, 28, 63]) func `the process may open hardly any file, and leaves none`(limit: Int) throws {
        let said = try complaint(on: ["/bin/sh", "-c", #"ulimit -n \#(limit); exec "$@""#, "sh"])
        #expect(said.hasPrefix("this process may open \(limit) files, and a device needs 64"))
    }

    @Test func `the program can be named relative to the working directory`() throws {
        let program = try DaemonProgram.path()
        try FileManager.default.createSymbolicLink(atPath: directory["host"], withDestinationPath: program)
        let place = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }.joined()
        let run = try Run(
            Order.process(
                nil, ["--testing-library", "swift-testing", "--filter", "ObedientTests"], in: directory.path,
                environment: ["APPCONTAINER": place + directory["host"].dropFirst()]))
        #expect(run.status == 0, "\(run.output)")
    }
}
