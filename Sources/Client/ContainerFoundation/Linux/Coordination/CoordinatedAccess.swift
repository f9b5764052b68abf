// One coordinated access, step by step: presenters get ready, claims are waited for, the accessor runs, presenters are
// told.

import Foundation
import Platform
import SandboxModel
import Synchronization

/// An item that a coordinator is asked for.
struct AccessRequest: Sendable {
    let url: URL
    let kind: FileAccess.Kind
    let options: UInt

    static func reading(_ url: URL, _ options: NSFileCoordinator.ReadingOptions) -> AccessRequest {
        AccessRequest(url: url, kind: .read, options: options.rawValue)
    }

    static func writing(_ url: URL, _ options: NSFileCoordinator.WritingOptions) -> AccessRequest {
        AccessRequest(url: url, kind: .write, options: options.rawValue)
    }

    var reading: NSFileCoordinator.ReadingOptions {
        NSFileCoordinator.ReadingOptions(rawValue: kind == .read ? options : 0)
    }
}

/// The accesses of one call, from the asking of presenters to the end. Used by one thread at a time, but for
/// ``tell(_:to:)``.
final class CoordinatedAccess: Sendable {
    /// The accesses in one container.
    private struct Part {
        let use: Listener.Use
        var accesses: [FileAccess]
        /// Once presenters are asked.
        var question: PresenterQuestion?
        /// The places of the accesses in the call's list.
        let indices: [Int]
        var local: AskedPresenters?
        var remote: RemotePresenters?

        /// - Returns: the moves that concern an access, one after the other.
        mutating func follow(_ moves: [ItemMove]) -> [ItemMove] {
            var followed: [ItemMove] = []
            for move in moves {
                let accesses = accesses
                guard accesses.contains(where: { $0.isConcerned(by: move) }) else { continue }
                followed.append(move)
                self.accesses = accesses.map { access in
                    var access = access
                    _ = access.follow(move)
                    return access
                }
            }
            question?.accesses = accesses
            return followed
        }
    }

    private struct State {
        var parts: [Part] = []
        var claims: ClaimSet?
        /// The URLs for the accessor.
        var urls: [URL]
    }

    private let purpose: String
    private let requests: [AccessRequest]
    private let state: Mutex<State>

    var urls: [URL] { state.withLock { $0.urls } }

    init(_ requests: [AccessRequest], for purpose: String) throws(CoordinationFailure) {
        self.requests = requests
        self.purpose = purpose
        var urls: [URL] = []
        var grouped: [(place: CoordinationPlace, accesses: [FileAccess], indices: [Int])] = []
        do throws(SystemError) {
            for (index, request) in requests.enumerated() {
                guard request.url.isFileURL else { throw .invalid }
                let resolves = request.reading.contains(.resolvesSymbolicLink)
                let item = try CoordinationPlace.item(at: request.url, resolvingLink: resolves)
                urls.append(resolves ? item.place.url(of: item.path) : request.url)
                let access = FileAccess(request.kind, item.path, options: request.options)
                if let known = grouped.firstIndex(where: { $0.place == item.place }) {
                    grouped[known].accesses.append(access)
                    grouped[known].indices.append(index)
                } else {
                    grouped.append((item.place, [access], [index]))
                }
            }
            state = Mutex(State(urls: urls))
            for group in grouped {
                let part = Part(
                    use: try Listener.use(in: group.place, presenting: false), accesses: group.accesses,
                    indices: group.indices)
                state.withLock { $0.parts.append(part) }
            }
        } catch {
            throw .system(error)
        }
    }

    // MARK: Presenters

    /// Has all presenters that are concerned get ready, in this process and in others.
    /// - Parameter isReady: whether a batch has had them get ready: they are told of the access alone.
    func askPresenters(isBatch: Bool, isReady: Bool, _ caller: some Cancellable) throws(CoordinationFailure) {
        let deadline = UInt64.nanoseconds(in: CoordinationLimits.current.presenters)
        var parts = state.withLock { $0.parts }
        for index in parts.indices {
            let question = PresenterQuestion(
                accesses: parts[index].accesses, purpose: purpose, isBatch: isBatch, isReady: isReady)
            let use = parts[index].use
            parts[index].question = question
            parts[index].remote = RemotePresenters(question, at: use.listener)
            parts[index].local = AskedPresenters(PresenterRegistry.sessions(for: question, in: use.place))
        }
        state.withLock { $0.parts = parts }
        try waitForPresenters(until: deadline, caller)
    }

    private func waitForPresenters(until deadline: UInt64, _ caller: some Cancellable) throws(CoordinationFailure) {
        for part in state.withLock({ $0.parts }) {
            try CoordinatedAccess.wait(until: deadline, caller) { part.remote?.answer(until: $0) }
            try CoordinatedAccess.wait(until: deadline, caller) { part.local?.wait(until: $0) }
        }
    }

    /// Waits in slices, because the caller may be cancelled. A presenter that does not answer is passed over.
    private static func wait(
        until deadline: UInt64, _ caller: some Cancellable, _ answer: (UInt64) -> AskedPresenters.Answer?
    ) throws(CoordinationFailure) {
        while let answer = answer(min(deadline, .nanoseconds(in: 0.05))) {
            if case .answered(let error) = answer {
                if let error { throw .presenter(error) }
                return
            }
            guard !caller.isCancelled else { throw .cancelled }
            guard MonotonicClock.nanoseconds < deadline else { return }
        }
    }

    // MARK: Claims

    /// Waits until nobody else uses the items. An item that is moved meanwhile is waited for where it is then.
    func claim(_ caller: some Cancellable) throws(CoordinationFailure) {
        while true {
            let parts = state.withLock { $0.parts }
            let claims = try ClaimSet(
                on: parts.map(\.accesses), for: purpose, at: parts.map(\.use.listener), caller)
            do throws(CoordinationFailure) {
                try claims.wait(caller)
            } catch {
                claims.end()
                throw error
            }
            guard follow(claims.moves()) else { return state.withLock { $0.claims = claims } }
            claims.end()
            try waitForPresenters(until: .nanoseconds(in: CoordinationLimits.current.presenters), caller)
        }
    }

    /// Goes where items were moved to, with the presenters that were asked, and asks those that are concerned now.
    /// - Returns: whether an item has another path now.
    private func follow(_ moves: [[ItemMove]]) -> Bool {
        var isMoved = false
        for (index, moves) in moves.enumerated() where !moves.isEmpty {
            let (part, followed, isPartMoved) = state.withLock { state in
                let before = state.parts[index].accesses
                let followed = state.parts[index].follow(moves)
                let part = state.parts[index]
                for (number, access) in part.accesses.enumerated() where access != before[number] {
                    state.urls[part.indices[number]] = part.use.place.url(of: access.path)
                }
                return (part, followed, part.accesses != before)
            }
            isMoved = isMoved || isPartMoved
            for move in followed { part.local?.follow(move) }
            let question = isPartMoved ? part.question : nil
            part.remote?.follow(followed, asking: question, at: part.use.listener)
            if let question, let local = part.local {
                local.ask(PresenterRegistry.sessions(for: question, in: part.use.place, but: local.presenters))
            }
        }
        return isMoved
    }

    /// Gives the items free for others, before the access is over.
    func endClaims() {
        let claims = state.withLock { state in
            defer { state.claims = nil }
            return state.claims
        }
        claims?.end()
    }

    // MARK: During and after the access

    /// Tells everybody concerned that an item has another URL now.
    func tell(_ old: URL, movedTo new: URL) {
        guard let from = try? CoordinationPlace.item(at: old), let to = try? CoordinationPlace.item(at: new) else {
            return
        }
        let move = ItemMove(from: from.path, to: from.place == to.place ? to.path : nil)
        guard move.isValid else { return }
        let (parts, claims) = state.withLock { ($0.parts, $0.claims) }
        claims?.tell(move, in: from.place)
        for part in parts where part.use.place == from.place {
            part.local?.tell(move, to: new)
            part.remote?.tell(move)
        }
    }

    /// The access is over.
    func end() {
        endClaims()
        let parts = state.withLock { state in
            defer { state.parts = [] }
            return state.parts
        }
        for part in parts {
            part.local?.end()
            part.remote?.end()
        }
        // A presenter may present an item from now on that has come into being.
        PresenterRegistry.refresh()
    }
}
