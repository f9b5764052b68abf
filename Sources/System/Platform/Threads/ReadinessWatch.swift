// Waiting for a descriptor without a thread.

import CPlatform
// Any thread may cancel a source, which the module does not declare.
@unsafe @preconcurrency import Dispatch
public import SandboxModel

/// Waits, by `epoll(7)`, until a call on a descriptor would not block.
///
/// The descriptor given to libdispatch is not the one waited for: it must never hang up. Where data and a hang-up come
/// together, as from a socket whose other end answers and closes, libdispatch (Swift 6.3) tells a source of each, and
/// ends the process if a worker has acted on the hang-up before the second telling ("Source finalized twice").
public final class ReadinessWatch: Sendable {
    public enum Use: Sendable {
        case reading, writing
    }

    private let readiness: Descriptor
    /// Keeps the descriptor open.
    private let owner: any AnyObject & Sendable

    /// `epoll_create1(2)` and `epoll_ctl(2)`.
    /// - Parameters:
    ///   - descriptor: no regular file.
    ///   - owner: closes the descriptor when it is released, not before.
    /// - Throws: EMFILE, or another error of the calls.
    public init(
        of descriptor: Int32, ownedBy owner: any AnyObject & Sendable, for use: Use
    ) throws(SystemError) {
        readiness = Descriptor(owning: try systemCall { platform_watch_readiness(descriptor, use == .writing ? 1 : 0) })
        self.owner = owner
    }

    /// Readable, for poll(2), while the call would not block.
    public var eventDescriptor: Int32 { readiness.number }

    /// Calls back once, on a global queue, as soon as the call would not block. It may be called again then.
    public func whenReady(_ body: @escaping @Sendable () -> Void) {
        let source = source()
        source.setCancelHandler { withExtendedLifetime(self, body) }
        source.activate()
    }

    /// Suspends the task until the call would not block.
    /// - Throws: `CancellationError`.
    public func wait() async throws(CancellationError) {
        let source = source()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setCancelHandler { withExtendedLifetime(self) { continuation.resume() } }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
        guard !Task.isCancelled else { throw CancellationError() }
    }

    /// Readiness and cancellation both end the wait by cancelling the source, which happens once. The descriptors have
    /// to outlive it: the cancel handler keeps them.
    private func source() -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: readiness.number, queue: .global())
        source.setEventHandler { source.cancel() }
        return source
    }
}

extension SharedDescriptor {
    /// Suspends the task until a call of that kind would not answer EAGAIN.
    /// - Throws: `CancellationError`, or as ``ReadinessWatch/init(of:ownedBy:for:)``.
    public func waitUntilReady(for use: ReadinessWatch.Use) async throws {
        try await ReadinessWatch(of: descriptor.number, ownedBy: self, for: use).wait()
    }
}
