// Threads for loops that block in the kernel, which the threads of Swift concurrency must not do.

import CPlatform
import Glibc
public import SandboxModel

/// A POSIX thread. Ends when its body returns. Exactly one call of ``join()`` or ``detach()`` must follow.
@safe public final class HostThread: @unchecked Sendable {
    private let thread: pthread_t

    private final class Body {
        let name: String
        let run: @Sendable () -> Void
        /// Whether the creator is bound to a processor, which its threads inherit.
        let isBound = Processors.isThreadBound

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// `pthread_create(3)`.
    /// - Parameter name: at most 15 bytes, shown by `ps -L`.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var thread = pthread_t()
        // The thread releases this reference.
        let start = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                let body = unsafe Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
                unsafe platform_name_thread(body.name)
                if body.isBound { Processors.releaseThread() }
                body.run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw SystemError(code: code)
        }
        self.thread = thread
    }

    /// `pthread_kill(3)`: makes the system call in which the thread waits fail with EINTR. Later calls are not
    /// affected, so a thread that is just about to wait misses it, and callers repeat it.
    ///
    /// Only before ``join()`` and ``detach()``: afterwards the handle may be that of another thread.
    public func interrupt() {
        _ = HostThread.interruption
        pthread_kill(thread, HostThread.interruptingSignal)
    }

    /// A real-time signal that nothing else in this process uses.
    private static let interruptingSignal = __libc_current_sigrtmin() + 9

    /// Installs an empty handler without `SA_RESTART`, so that the call is not restarted.
    private static let interruption: Void = {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        unsafe sigaction(interruptingSignal, &action, nil)
    }()

    /// `pthread_sigmask(3)` with `SIG_UNBLOCK`: lets ``interrupt()`` reach the calling thread.
    public static func allowInterruption() {
        _ = interruption
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, interruptingSignal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// `pthread_detach(3)`.
    public func detach() {
        pthread_detach(thread)
    }

    /// `pthread_join(3)`; for the calling thread itself, ``detach()``.
    public func join() {
        if pthread_equal(thread, pthread_self()) != 0 { detach() } else { pthread_join(thread, nil) }
    }

    /// Zeroes the calling thread's stack below this call, and its vector registers: earlier calls leave plaintext
    /// there.
    @inline(never)
    public static func wipeStack() {
        platform_wipe_stack()
    }
}
