// Waiting for a descriptor without a thread.

// Any thread may cancel a source, which the module does not declare.
@unsafe @preconcurrency import Dispatch

extension SharedDescriptor {
    public enum Use: Sendable {
        case reading, writing
    }

    /// Suspends the task until a call of that kind would not answer EAGAIN (`epoll(7)`, by libdispatch).
    /// - Throws: `CancellationError`.
    public func waitUntilReady(for use: Use) async throws(CancellationError) {
        let number = descriptor.number
        let source: any DispatchSourceProtocol =
            switch use {
            case .reading: DispatchSource.makeReadSource(fileDescriptor: number, queue: .global())
            case .writing: DispatchSource.makeWriteSource(fileDescriptor: number, queue: .global())
            }
        // Readiness and cancellation both end the wait by cancelling the source, which happens once.
        source.setEventHandler { source.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The descriptor has to outlive the source.
                source.setCancelHandler { withExtendedLifetime(self) { continuation.resume() } }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
        guard !Task.isCancelled else { throw CancellationError() }
    }
}
