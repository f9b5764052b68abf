// The list of the paths that a phone's backup leaves out, for other tools that back a mount up.

import AppContainer
import ArgumentParser
import Platform
import SandboxModel

/// The options of `backup --list` that make the exclude list.
struct ExcludeListOptions: ParsableArguments {
    @Flag(help: "List only the paths that would be left out, in the apps' mounts: an exclude list for other tools.")
    var excluded = false
    @Flag(name: .customLong("print0"), help: "End each path of --excluded with a NUL character, not a line end.")
    var endsWithNUL = false
    @Option(name: .customLong("for"), help: "Write the paths of --excluded as patterns of this tool.")
    var tool: ExcludingTool?
    @Flag(help: "Write the paths of --excluded from the app's home, and not from the root.")
    var relative = false

    /// - Throws: `ValidationError` for options that do not go together.
    func check(list: Bool, app: String?, json: Bool, ignoreExclusions: Bool) throws {
        guard excluded else {
            guard !endsWithNUL, tool == nil, !relative else {
                throw ValidationError("--print0, --for and --relative go with --list --excluded")
            }
            return
        }
        guard list else { throw ValidationError("--excluded makes no backup: add --list") }
        guard !ignoreExclusions else { throw ValidationError("Give --excluded or --ignore-exclusions") }
        guard !json || (!endsWithNUL && tool == nil && !relative) else {
            throw ValidationError("--json has every path as it is: leave --print0, --for and --relative out")
        }
        guard !relative || app != nil else { throw ValidationError("--relative is for the home of one app: add --app") }
        if relative, tool == .restic || tool == .duplicity {
            throw ValidationError("--for \(tool!.rawValue) takes no --relative: it matches whole paths")
        }
    }

    /// Prints the list, or nothing where a path cannot be written.
    /// - Throws: ``Complaint`` of kind `notMounted`, `inexpressiblePath`, or of a failed write.
    func show(_ homes: [ExcludedHome], app: String?) throws(Complaint) {
        if !relative, !homes.contains(where: { $0.mountPoint != nil }) {
            throw Complaint(
                .notMounted,
                "\(app ?? "no app") is \(app == nil ? "" : "not ")mounted, and the paths are those of its mount; "
                    + "mount it\(app == nil ? "" : ", or add --relative")")
        }
        var list: [UInt8] = []
        for home in homes {
            for path in home.paths {
                guard let line = try line(for: path, in: home) else { continue }
                list += line + [endsWithNUL ? 0 : UInt8(ascii: "\n")]
            }
        }
        try Output.bytes(list)
    }

    /// - Returns: nil for a path of a home that is not mounted.
    private func line(for path: ExcludedHome.Path, in home: ExcludedHome) throws(Complaint) -> [UInt8]? {
        let inHome = path.bytes.map { Array($0) } ?? Array(path.path.utf8)
        var whole: [UInt8]
        if relative {
            // Before the first name, tar has what it was given, and rsync the root of its transfer.
            whole = Array((tool == .tar ? "./" : tool == .rsync ? "/" : "").utf8) + inHome
            if whole.isEmpty { whole = Array(".".utf8) }
        } else {
            guard let mountPoint = home.mountPoint else { return nil }
            whole = Array(mountPoint.utf8) + (inHome.isEmpty ? [] : Array("/".utf8) + inHome)
        }
        guard let tool else {
            guard endsWithNUL || !whole.contains(UInt8(ascii: "\n")) else {
                throw inexpressible(path, "has a line end, and the list is one of lines; add --print0")
            }
            return whole
        }
        guard let pattern = tool.pattern(for: whole, endsWithNUL: endsWithNUL) else {
            throw inexpressible(path, tool.limit)
        }
        return pattern
    }

    private func inexpressible(_ path: ExcludedHome.Path, _ what: String) -> Complaint {
        Complaint(.inexpressiblePath, "\(path.path.shown) \(what); nothing was printed")
    }
}
