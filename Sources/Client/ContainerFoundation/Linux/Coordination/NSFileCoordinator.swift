// Foundation's class that coordinates the reading and writing of files among processes and objects.

public import Foundation
import Platform
import SandboxModel
import Synchronization

/// As on Apple's systems, where it takes a pointer that Swift passes for `&error`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Coordinates reading and writing with other coordinators and with presenters: in this process, in other processes on
/// the same mount, and in other apps of the item's group. Off a mount, with the processes of the same user of this
/// host.
///
/// Readers do not wait for each other. A writer waits for all others of its item, and they wait for it; the earlier one
/// goes first. Coordinators of one purpose, and so one coordinator's own calls, never wait for each other. Nobody waits
/// for a process that has ended. An access fails with `CocoaError.fileLocking` if a process holds its item that has not
/// run for 6 seconds, or anybody holds it for 5 minutes. A presenter's process that does not run is passed over after 3
/// seconds, a presenter that does not answer after 30.
///
/// An access to an item in a group is a lock there: an app that is suspended during it is killed.
open class NSFileCoordinator: NSObject, @unchecked Sendable {
    private struct State {
        var purpose: String
        var isPurposeFixed: Bool
        var isCancelled = false
        /// Accesses whose accessors run now.
        var running: [CoordinatedAccess] = []
        /// Batches whose presenters are ready.
        var batches = 0
    }

    // All state is in here.
    private let state: Mutex<State>
    /// Kept, because it counts as the one who accesses.
    private let presenter: (any NSFilePresenter)?

    /// - Parameter filePresenterOrNil: the presenter that is going to read or write. It is neither asked nor told.
    public init(filePresenter filePresenterOrNil: (any NSFilePresenter)?) {
        presenter = filePresenterOrNil
        state = Mutex(
            State(
                purpose: filePresenterOrNil.map(PresenterRegistry.purpose) ?? Entropy.uuid(),
                isPurposeFixed: filePresenterOrNil != nil))
        super.init()
    }

    /// A coordinator without a presenter: all presenters are asked and told. It has a purpose of its own, until
    /// ``purposeIdentifier`` is set.
    public override convenience init() {
        self.init(filePresenter: nil)
    }

    // MARK: Presenters

    /// Registers a presenter: from now on it is asked and told, by coordinators of all processes that use the container
    /// of its item. It is held weakly, and is to be removed before it ends; one that ended without is asked nothing
    /// more.
    ///
    /// Its URL is read now and after each access of this process. A presenter whose URL is nil, or no file URL, is
    /// asked nothing meanwhile. In a container that is full or cannot be used, this process alone asks it; no error
    /// tells that. One that is added twice is asked and told twice, and has to be removed twice.
    open class func addFilePresenter(_ filePresenter: any NSFilePresenter) {
        PresenterRegistry.add(filePresenter)
    }

    /// Ends a registration. An access that has asked the presenter already still tells it of its end. Does nothing for
    /// a presenter that is not registered.
    open class func removeFilePresenter(_ filePresenter: any NSFilePresenter) {
        PresenterRegistry.remove(ObjectIdentifier(filePresenter))
    }

    /// The presenters of this process.
    open class var filePresenters: [any NSFilePresenter] { PresenterRegistry.presenters }

    /// Coordinators of one purpose do not wait for each other, in other processes neither.
    ///
    /// A coordinator without a presenter has a random one, which can be replaced once, before its first access:
    /// accesses that are under way keep theirs. One with a presenter has that presenter's purpose.
    ///
    /// - Precondition: a new purpose has 1 to 1024 bytes of UTF-8, and is set once, of a coordinator without a
    ///   presenter. Anything else ends the process.
    open var purposeIdentifier: String {
        get { state.withLock { $0.purpose } }
        set {
            state.withLock { state in
                precondition(!newValue.isEmpty && newValue.utf8.count <= 1024, "a purpose has 1 to 1024 bytes")
                precondition(
                    !state.isPurposeFixed, "the purpose of a coordinator is set once, and not with a presenter")
                state.purpose = newValue
                state.isPurposeFixed = true
            }
        }
    }

    // MARK: Moves

    /// Has no effect, as on iOS.
    open func item(at oldURL: URL, willMoveTo newURL: URL) {}

    /// Tells presenters, and coordinators that wait for the item, that it has another URL now. Only in an accessor.
    open func item(at oldURL: URL, didMoveTo newURL: URL) {
        for access in state.withLock({ $0.running }) { access.tell(oldURL, movedTo: newURL) }
    }

    // MARK: Cancellation

    /// Ends all waiting of this coordinator, from any thread. No accessor is called any more; the error is
    /// `CocoaError.userCancelled`. An accessor that runs goes on.
    open func cancel() {
        state.withLock { $0.isCancelled = true }
    }

    // MARK: Accesses

    /// Waits for all items, on no thread of the caller's, and calls the accessor in the queue, with an error if access
    /// was not granted. The intents have the URLs. The access is over when the accessor returns.
    open func coordinate(
        with intents: [NSFileAccessIntent], queue: OperationQueue,
        byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let limits = CoordinationLimits.current
        let requests = intents.map(\.request)
        WorkQueue().start { [self] in
            do throws(CoordinationFailure) {
                let granting = CoordinationLimits.$current.withValue(limits) {
                    Result { () throws(CoordinationFailure) in try granted(requests) }
                }
                let access = try granting.get()
                for (intent, url) in zip(intents, access.urls) { intent.url = url }
                queue.addOperation { [self] in
                    accessor(nil)
                    end(access)
                }
            } catch {
                let failure = NSFileCoordinator.error(error, at: requests.first?.url)
                queue.addOperation { accessor(failure) }
            }
        }
    }

    /// Asks for items and runs the accessor, with the URLs of the items.
    func coordinate(_ requests: [AccessRequest], _ accessor: ([URL]) -> Void) -> NSError? {
        do throws(CoordinationFailure) {
            let access = try granted(requests)
            defer { end(access) }
            guard let request = requests.first(where: { $0.reading.contains(.forUploading) }) else {
                accessor(access.urls)
                return nil
            }
            return try UploadSnapshot.run(access, of: request, accessor)
        } catch {
            return NSFileCoordinator.error(error, at: requests.first?.url)
        }
    }

    private func granted(_ requests: [AccessRequest]) throws(CoordinationFailure) -> CoordinatedAccess {
        let (purpose, isPrepared) = try state.withLock { state throws(CoordinationFailure) in
            guard !state.isCancelled else { throw .cancelled }
            return (state.purpose, state.batches > 0)
        }
        let access = try CoordinatedAccess(requests, for: purpose)
        do throws(CoordinationFailure) {
            // In a batch presenters are ready already, and are told of changes all the same.
            try access.askPresenters(isBatch: false, isReady: isPrepared, self)
            try access.claim(self)
        } catch {
            access.end()
            throw error
        }
        state.withLock { $0.running.append(access) }
        return access
    }

    private func end(_ access: CoordinatedAccess) {
        state.withLock { $0.running.removeAll { $0 === access } }
        access.end()
    }

    /// Has the presenters of all items, and of items in them, get ready, for the accesses that the block makes with
    /// this coordinator.
    func prepare(_ requests: [AccessRequest], _ body: (@escaping @Sendable () -> Void) -> Void) -> NSError? {
        do throws(CoordinationFailure) {
            let purpose = try state.withLock { state throws(CoordinationFailure) in
                guard !state.isCancelled else { throw .cancelled }
                return state.purpose
            }
            let access = try CoordinatedAccess(requests, for: purpose)
            do throws(CoordinationFailure) {
                try access.askPresenters(isBatch: true, isReady: false, self)
            } catch {
                access.end()
                throw error
            }
            state.withLock { $0.batches += 1 }
            let end = BatchEnd { [self] in
                state.withLock { $0.batches -= 1 }
                access.end()
            }
            body { end.call() }
            return nil
        } catch {
            return NSFileCoordinator.error(error, at: requests.first?.url)
        }
    }

    // MARK: Errors

    private static func error(_ failure: CoordinationFailure, at url: URL?) -> NSError {
        var details: [String: Any] = [:]
        if let url { details[NSURLErrorKey] = url }
        let code: CocoaError.Code
        switch failure {
        case .presenter(let error): return error
        case .system(let error):
            code = CocoaError(error, path: url?.path ?? "").code
            if let number = POSIXErrorCode(rawValue: error.code) { details[NSUnderlyingErrorKey] = POSIXError(number) }
        case .cancelled: code = .userCancelled
        case .stopped:
            code = .fileLocking
            details[NSLocalizedDescriptionKey] = "The item is held by a process that is stopped or suspended."
        case .late:
            code = .fileLocking
            details[NSLocalizedDescriptionKey] = "The item was held by others for longer than anybody waits."
        }
        return NSError(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: details)
    }
}

extension NSFileCoordinator: Cancellable {
    var isCancelled: Bool { state.withLock { $0.isCancelled } }
}

/// The end of a batch, which comes once.
private final class BatchEnd: Sendable {
    private let body: @Sendable () -> Void
    private let isOver = Mutex(false)

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func call() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { body() }
    }
}
