// The program's entry point: mounts, and serves until the mount is gone.

import FuseBridge
import Glibc
import Platform
import SandboxModel

@main
enum Program {
    static func main() {
        ProcessSettings.occupyStandardDescriptors()
        // Each inode that the kernel knows has a descriptor.
        OpenFileLimit.raise()
        // The kernel has applied the caller's.
        umask(0)
        do throws(Failure) {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            try arguments.check()
            try serve(arguments)
        } catch {
            print("passthrough: \(error.message)", to: STDERR_FILENO)
            exit(error.code)
        }
    }

    private static func serve(_ arguments: Arguments) throws(Failure) {
        // Before the first thread, as threads inherit it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

        let fileSystem: PassthroughFileSystem
        do throws(SystemError) {
            fileSystem = try PassthroughFileSystem(source: arguments.source)
        } catch {
            throw .input("\(arguments.source): \(error.message)")
        }
        var options = Session.Options(
            source: arguments.source, subtype: "passthrough", otherUsers: geteuid() == 0)
        options.transport = arguments.transport
        options.replyDropped = { print("passthrough: \($0)", to: STDERR_FILENO) }
        options.failed = options.replyDropped
        let session: Session
        do throws(MountFailure) {
            session = try Session.mount(fileSystem, at: arguments.mountPoint, options: options)
        } catch {
            throw .mount(error)
        }
        // For scripts, which wait for it.
        print("mounted at \(arguments.mountPoint) over \(session.transport.rawValue)", to: STDOUT_FILENO)
        unmountAtSignal(arguments.mountPoint, signals)
        session.waitUntilEnded()
    }

    private static func unmountAtSignal(_ mountPoint: String, _ signals: sigset_t) {
        let thread = try? HostThread(name: "signals") {
            var signals = signals
            var number: Int32 = 0
            unsafe sigwait(&signals, &number)
            try? Session.unmount(mountPoint, lazily: true)
        }
        thread?.detach()
    }

    /// One write, unbuffered.
    private static func print(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}
