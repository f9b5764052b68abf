// Tests of a device's daemon: one process for concurrent commands, its end on request, and recovery after a kill.

import Foundation
import Testing

@Suite struct DaemonProcessTests {
    private func prepare(_ sandbox: Sandbox) throws {
        try #require(sandbox.run("appcontainer create phone").code == 0)
        try #require(sandbox.run("appcontainer install phone Notes.app && appcontainer shutdown phone").code == 0)
    }

    @Test func `commands that start it at once share one`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let one = "appcontainer check phone >> answers 2>&1 & "
            let run = try sandbox.run(String(repeating: one, count: 8) + "wait; sort answers | uniq -c")
            #expect(run.output.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } } == ["8 whole"])
            let pid = try #require(try sandbox.daemon(of: "phone"))
            let log = try sandbox.run("grep -c serving phone/daemon.log").output
            // One daemon for the installation, one for all of these.
            #expect(log == "2\n")
            #expect(kill(pid, 0) == 0)
        }
    }

    @Test func `it keeps no descriptor, session or directory of the process that started it`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            _ = try sandbox.run("exec 8< Notes.app/Info.plist 9> kept; appcontainer check phone")
            let pid = try #require(try sandbox.daemon(of: "phone"))
            let run = try sandbox.run(
                """
                readlink /proc/\(pid)/cwd; for f in 0 1 2; do readlink /proc/\(pid)/fd/$f; done
                cut -d' ' -f 6 /proc/\(pid)/stat
                """)
            #expect(run.output == "/\n/dev/null\n/dev/null\n/dev/null\n\(pid)\n")
            let files = try sandbox.run("ls -l /proc/\(pid)/fd").output
            #expect(!files.contains("Info.plist") && !files.contains("kept"))
        }
    }

    @Test(arguments: ["TERM", "INT"]) func `a signal is a clean shutdown`(signal: String) async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let mount = "appcontainer mount phone com.example.Notes m && echo safe > m/Documents/a.txt"
            try #require(sandbox.run(mount).code == 0)
            let pid = try #require(try sandbox.daemon(of: "phone"))
            _ = try sandbox.run("kill -\(signal) \(pid); while kill -0 \(pid) 2>/dev/null; do sleep 0.01; done")
            #expect(try sandbox.run("ls -A m").output.isEmpty)
            #expect(try sandbox.daemon(of: "phone") == nil)
            let sessions = try sandbox.run("tr -d ' \\n' < phone/Sessions.json").output
            #expect(sessions.contains("\"ended\":true") && sessions.contains("\"killed\":[]"))
            let again = try sandbox.run("appcontainer mount phone com.example.Notes m && cat m/Documents/a.txt")
            #expect(again.output == "safe\n")
        }
    }

    @Test func `killed, it is started again, and its mount is cleaned up`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let mount = "appcontainer mount phone com.example.Notes m"
            try #require(sandbox.run(mount + " && echo safe > m/Documents/a.txt").code == 0)
            let pid = try #require(try sandbox.daemon(of: "phone"))
            _ = try sandbox.run("sync -f m; kill -9 \(pid); while kill -0 \(pid) 2>/dev/null; do sleep 0.01; done")
            #expect(try sandbox.run("ls m").output.contains("not connected"))
            #expect(try sandbox.run("appcontainer status phone --json").output.contains("\"off\""))
            #expect(try sandbox.run(mount + " && cat m/Documents/a.txt").output == "safe\n")
            #expect(try sandbox.run("appcontainer check phone").output == "whole\n")
            let second = try #require(try sandbox.daemon(of: "phone"))
            _ = try sandbox.run("kill -9 \(second); while kill -0 \(second) 2>/dev/null; do sleep 0.01; done")
            #expect(try sandbox.run("appcontainer unmount m; ls -A m").output.isEmpty)
            let left = try sandbox.run("grep -c \(sandbox.directory) /proc/self/mountinfo").output
            #expect(left == "0\n")
        }
    }

    @Test func `a mount that comes with a shutdown is refused or served, never lost`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            for _ in 0..<5 {
                let mount = "appcontainer mount phone com.example.Notes m"
                let run = try sandbox.run("appcontainer shutdown phone & \(mount); code=$?; wait; exit $code")
                #expect(run.code == 0)
                _ = try sandbox.run("appcontainer unmount m")
            }
        }
    }

    @Test func `two mounts of one app at once are one mount and one refusal`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let run = try sandbox.run(
                """
                appcontainer mount phone com.example.Notes m 2> e1; echo $? > c1 &
                appcontainer mount phone com.example.Notes m2 2> e2; echo $? > c2; wait; cat c1 c2 | sort -n
                """)
            #expect(run.output == "0\n11\n")
        }
    }

    @Test func `an unmount from outside is noticed, and the app can be mounted again at once`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let run = try sandbox.run(
                """
                for turn in 1 2 3; do
                appcontainer mount phone com.example.Notes m && { umount m 2>/dev/null || fusermount3 -u m; } || echo no
                done
                appcontainer status phone | grep -c Mount
                """)
            #expect(run.output == "0\n")
        }
    }

    @Test func `in the foreground, an interrupt ends the mount`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let run = try sandbox.run(
                """
                appcontainer mount phone com.example.Notes m --foreground & command=$!
                until appcontainer status phone | grep -q '^Mount'; do sleep 0.02; done
                kill -INT $command; wait $command; echo $?; ls -A m
                """)
            #expect(run.output == "0\n")
        }
    }

    @Test func `a device deep in the tree has a short socket`() async throws {
        try await Sandbox.run { sandbox in
            let deep = (0..<12).map { "\($0)" + String(repeating: "d", count: 100) }.joined(separator: "/")
            let device = "\(deep)/phone"
            let run = try sandbox.run(
                "mkdir -p \(deep) && appcontainer create \(device) && appcontainer check \(device)")
            #expect(run.output == "whole\n")
            let status = try sandbox.run("appcontainer status \(deep)/phone | sed -n 's/^Socket: *//p'").output
            #expect((1..<100).contains(status.utf8.count))
            #expect(try sandbox.run("appcontainer shutdown \(deep)/phone").code == 0)
        }
    }

    @Test func `a copy of a running device is not taken for it`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            let run = try sandbox.run("appcontainer check phone; cp -a phone copy; appcontainer status copy")
            #expect(run.output.contains("State:      off"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "another user is needed, and only root can become one"))
    func `another user cannot reach the control socket`() async throws {
        try await Sandbox.run { sandbox in
            try prepare(sandbox)
            _ = try sandbox.run("appcontainer check phone")
            let socket = try sandbox.run("appcontainer status phone | sed -n 's/^Socket: *//p' | tr -d '\\n'").output
            let program = """
                import socket,sys
                s=socket.socket(socket.AF_UNIX)
                try: s.connect(sys.argv[1]); print("connected")
                except PermissionError: print("refused")
                """
            try Data(program.utf8).write(to: URL(filePath: sandbox.directory + "/connect.py"))
            #expect(try sandbox.run("python3 connect.py \(socket)").output == "connected\n")
            // Other users have no access, neither to the daemon nor to the device's directory.
            let become = "setpriv --reuid=65534 --regid=65534 --clear-groups"
            #expect(try sandbox.run("\(become) python3 - \(socket) < connect.py").output == "refused\n")
            let status = try sandbox.run("\(become) appcontainer status phone")
            #expect(status.code == 23, "\(status.output)")
        }
    }
}
