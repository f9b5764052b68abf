// Messages to systemd, which started this process as a service (sd_notify(3)).

import Glibc
import SandboxModel

/// The service manager that waits for this process, if there is one.
public enum ServiceSupervisor {
    /// The socket's path; with a leading `@` a name of no file. systemd sets it.
    private static let variable = "NOTIFY_SOCKET"

    /// Says that the service has started. Does nothing where no manager waits, or where it does not listen: it would
    /// end the service after its own limit of time.
    public static func reportReady() { report("READY=1") }

    /// Says that the service is ending.
    public static func reportStopping() { report("STOPPING=1") }

    private static func report(_ message: String) {
        guard let path = unsafe getenv(variable).map({ unsafe String(cString: $0) }), let first = path.utf8.first,
            first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
        else { return }
        // A leading NUL makes it abstract (unix(7)).
        let name = first == UInt8(ascii: "@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
        try? Descriptor.send(Array(message.utf8), toDatagramSocket: name)
    }
}
