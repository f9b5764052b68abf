// The user's browser.

import Glibc
import Platform
import SandboxModel

enum Browser {
    /// Opens an address, where a desktop is. A failure is told in a line: the user has the address.
    static func open(_ address: String) {
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { !(ProcessSettings.variable($0) ?? "").isEmpty }) else {
            return
        }
        // It would run as root, on the screen of whoever has become root.
        guard ActingUser.starter != 0 else {
            return StandardError.warn("no browser is opened as root; open the link yourself")
        }
        guard let program = program() else {
            return StandardError.warn("there is no browser here that can be opened; open the link yourself")
        }
        do throws(SystemError) {
            let process = try ProcessStart.start(
                executable: program, arguments: [address], descriptors: [nil, nil, nil], detached: true)
            // It waits for it: xdg-open ends when the browser has the address.
            try HostThread(name: "browser") {
                if ProcessStart.wait(for: process) != .exited(0) {
                    StandardError.warn("no browser opened the link; open it yourself")
                }
            }.detach()
        } catch {
            StandardError.warn("cannot start \(program): \(error.message); open the link yourself")
        }
    }

    /// The opener of freedesktop.org, or Debian's.
    private static func program() -> String? {
        let directories = (ProcessSettings.variable("PATH") ?? "").split(separator: ":" as Character)
        for name in ["xdg-open", "sensible-browser"] {
            for directory in directories {
                let path = "\(directory)/\(name)"
                if path.hasPrefix("/"), HostPath.isProgram(path) { return path }
            }
        }
        return nil
    }
}
