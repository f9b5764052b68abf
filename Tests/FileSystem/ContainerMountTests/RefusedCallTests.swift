// Tests of the reports of refused calls, on a real mount. Another process makes the calls, because those of the mount's
// own process are not reported.

import ContainerVolume
import Glibc
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import ContainerMount

@Suite(.serialized) struct RefusedCallTests {
    private func onMount(_ body: (MountFixture) throws -> Void) throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            try body(fixture)
        }
    }

    /// Runs a shell command in the home.
    private func run(_ command: String, in fixture: MountFixture) throws {
        try shell("cd '\(fixture.place)' && { \(command); } 2>/dev/null || true")
    }

    @Test(arguments: [
        ("mkdir new", "new", CallName.mkdir, Rule.topLevel),
        ("rmdir tmp", "tmp", .rmdir, .standardDirectory),
        ("ln -s x Notes.app/new", "Notes.app/new", .symlink, .sealedBundle),
        ("mkfifo Notes.app/new", "Notes.app/new", .mknod, .sealedBundle),
        ("unlink Notes.app/Info.plist", "Notes.app/Info.plist", .unlink, .sealedBundle),
        ("echo >>Notes.app/Info.plist", "Notes.app/Info.plist", .open, .sealedBundle),
        ("echo >Notes.app/new", "Notes.app/new", .create, .sealedBundle),
        ("chmod 700 Notes.app", "Notes.app", .chmod, .sealedBundle),
        ("setfattr -n user.a -v b Notes.app", "Notes.app", .setxattr, .sealedBundle),
        ("mv -T Library/Caches Documents/Caches", "Library/Caches", .rename, .standardDirectory),
        ("mkdir Documents/d && mv -T Documents/d Documents/Inbox", "Documents/Inbox", .rename, .inboxName),
        ("echo >Documents/f && ln Documents/f Notes.app/f", "Notes.app/f", .link, .sealedBundle),
        ("ln Notes.app/Info.plist Documents/f", "Notes.app/Info.plist", .link, .sealedBundle),
    ])
    func `a refused call is told with its place, its rule and its process`(
        command: String, path: String, call: CallName, rule: Rule
    ) throws {
        try onMount { fixture in
            try run(command, in: fixture)
            let refused = fixture.refused()
            #expect(refused.count == 1)
            let one = try #require(refused.first)
            #expect(one.place.app == notes && one.place.path == path)
            #expect(one.call == call && one.rule == rule && one.error == .notPermitted)
            let isBuiltIn = command.hasPrefix("echo >") && !command.contains("&&")
            #expect(one.process?.name == (isBuiltIn ? "sh" : command.split(separator: "&&").last.map(tool)))
            #expect(one.process.map { $0.id > 0 && $0.id != getpid() } == true)
        }
    }

    private func tool(in command: Substring) -> String {
        String(command.split(separator: " ").first ?? "")
    }

    @Test func `calls that succeed, or fail for another reason, are not reported`() throws {
        try onMount { fixture in
            try run("mkdir Documents/d; mkdir Documents/d; rmdir Documents/none; cat Notes.app/Info.plist", in: fixture)
            #expect(fixture.refused().isEmpty)
        }
    }

    @Test func `a call of the mount's own process is not told, on whatever thread`() throws {
        try onMount { fixture in
            let place = fixture.place
            let thread = try HostThread(name: "caller") { _ = unsafe mkdir(place + "/new", 0o755) }
            thread.join()
            #expect(unsafe code(mkdir(place + "/new", 0o755)) == EPERM)
            #expect(fixture.refused().isEmpty)
        }
    }

    @Test func `the app is that of the mount, and a group's place is below it`() throws {
        try MountFixture.run { fixture in
            let table = try fixture.makeTable()
            _ = try table.mount(try fixture.home(notes), at: fixture.place, options: MountOptions())
            let other = fixture.root + "/other"
            _ = try table.mount(try fixture.home(mail, groups: [shared]), at: other, options: MountOptions())
            try shell("cd '\(other)'; rmdir 'Groups/\(shared)' 2>/dev/null; mkdir Groups/new 2>/dev/null; true")
            let refused = fixture.refused()
            #expect(refused.map(\.place.app) == [mail, mail])
            #expect(refused.map(\.place.path) == ["Groups/\(shared)", "Groups/new"])
        }
    }
}
