// A thread of the host that somebody joins: for loops that block in the kernel, which the concurrency pool must not.

import CPlatform
import Glibc
public import SandboxModel

/// A running thread. It ends when its body returns; whoever made it calls ``join()`` or ``detach()`` once.
@safe public final class HostThread: @unchecked Sendable {
    private let thread: pthread_t

    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// - Parameter name: up to 15 bytes, as `ps -L` shows it.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var thread = pthread_t()
        // The thread takes over the reference that is retained here.
        let start = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                let body = unsafe Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
                unsafe platform_name_thread(body.name)
                body.run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw SystemError(code: code)
        }
        self.thread = thread
    }

    /// Makes a system call in which the thread waits answer EINTR, once; a call that it makes later is not affected.
    public func interrupt() {
        _ = HostThread.interruption
        pthread_kill(thread, HostThread.interruptingSignal)
    }

    /// One that nobody else sends: the C library keeps the first two of the real-time signals, and hands out the rest.
    private static let interruptingSignal = __libc_current_sigrtmin() + 9

    /// Installs a handler that does nothing, and without SA_RESTART, so that the call is not made again.
    private static let interruption: Void = {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        unsafe sigaction(interruptingSignal, &action, nil)
    }()

    /// Lets ``interrupt()`` reach the calling thread, whatever signals it was started without.
    public static func allowInterruption() {
        _ = interruption
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, interruptingSignal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Instead of ``join()``: nobody waits for the end.
    public func detach() {
        pthread_detach(thread)
    }

    /// Waits until the body has returned.
    public func join() {
        pthread_join(thread, nil)
    }
}
