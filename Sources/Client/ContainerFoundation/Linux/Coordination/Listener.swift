// The socket by which other processes reach this one in a container: they ask its presenters, and see that it runs.

import Foundation
import Glibc
import Platform
import SandboxModel
import Synchronization

/// One listener for each container that this process uses now. Its socket goes with the last use, at the process's end,
/// or, where the process is killed, when another one finds that nobody answers.
final class Listener: Sendable {
    /// Keeps a listener for as long as it lives.
    final class Use: Sendable {
        let listener: Listener

        fileprivate init(_ listener: Listener) {
            self.listener = listener
        }

        var place: CoordinationPlace { listener.place }

        deinit {
            Listener.endUse(of: listener)
        }
    }

    let place: CoordinationPlace
    let meeting: MeetingDirectory
    /// A part of the names of the socket and of all claims of this process.
    let identifier: String
    private let socket: ListeningSocket
    /// Open for as long as the listener listens: a purge takes no directory in which a file is open.
    private let openFile: SharedDescriptor

    /// Of a process that presents items; one that has claims only is asked nothing.
    static let presenting = ".presenter"
    static let claiming = ".claimant"
    /// Guarded by the mutex of all uses.
    private let isPresenting = Atomic(false)

    private var name: FileName {
        let ending = isPresenting.load(ordering: .relaxed) ? Listener.presenting : Listener.claiming
        return FileName(identifier + ending)!
    }

    private init(in place: CoordinationPlace, _ meeting: MeetingDirectory) throws(SystemError) {
        self.place = place
        self.meeting = meeting
        openFile = try meeting.lockFile()
        identifier = Entropy.bytes(8).hexadecimal
        socket = ListeningSocket(try meeting.makeSocket(FileName(identifier + Listener.claiming)!))
        let socket = socket
        do throws(SystemError) {
            try HostThread(name: "coordination") { Listener.accept(from: socket, for: place) }.detach()
        } catch {
            try? meeting.directory.removeFile(name)
            throw error
        }
    }

    // MARK: Use

    private struct Used {
        let listener: Listener
        var count: Int
    }

    private static let used = Mutex<[CoordinationPlace: Used]>([:])
    /// At exit(3) no socket is left behind.
    private static let removalAtExit: Void = {
        _ = atexit { Listener.used.withLock { used in for one in used.values { one.listener.removeSocket() } } }
    }()

    /// - Parameter presenting: whether others are to ask this process.
    /// - Throws: as ``MeetingDirectory/init(of:)``; ENOSPC and the like.
    static func use(in place: CoordinationPlace, presenting: Bool) throws(SystemError) -> Use {
        _ = removalAtExit
        return try used.withLock { used throws(SystemError) -> Use in
            let meeting = try MeetingDirectory(of: place)
            if let present = used[place], try present.listener.meeting.identity == meeting.identity {
                if presenting { try present.listener.present() }
                used[place]!.count += 1
                return Use(present.listener)
            }
            // The first one, or the first after somebody has removed the directory.
            let listener = try Listener(in: place, meeting)
            do throws(SystemError) {
                if presenting { try listener.present() }
            } catch {
                listener.end()
                throw error
            }
            used[place] = Used(listener: listener, count: 1)
            return Use(listener)
        }
    }

    /// Whether other processes find this listener in the container.
    var isReachable: Bool {
        guard let current = try? MeetingDirectory(of: place).identity else { return false }
        return (try? meeting.identity) == current
    }

    private static func endUse(of listener: Listener) {
        let isLast = used.withLock { used in
            // One that was replaced ends with its first use that ends; the others cannot reach anybody either.
            guard let present = used[listener.place], present.listener === listener else { return true }
            used[listener.place]!.count -= 1
            guard used[listener.place]!.count == 0 else { return false }
            used[listener.place] = nil
            return true
        }
        if isLast { listener.end() }
    }

    private func end() {
        removeSocket()
        socket.stop()
    }

    /// From now on others ask this process.
    private func present() throws(SystemError) {
        guard !isPresenting.load(ordering: .relaxed) else { return }
        try meeting.directory.rename(
            name, to: FileName(identifier + Listener.presenting)!, in: meeting.directory, mode: .keeping)
        isPresenting.store(true, ordering: .relaxed)
    }

    private func removeSocket() {
        try? meeting.directory.removeFile(name)
    }

    // MARK: Connections

    private static let connections = Atomic(0)

    /// Until the socket is stopped.
    private static func accept(from socket: ListeningSocket, for place: CoordinationPlace) {
        let limit = CoordinationLimits().connections
        while true {
            do throws(SystemError) {
                guard let connection = try socket.accept() else { return }
                let line = LineConnection(connection)
                // More than so many are not served: who connects so often does not get to hold all threads. They see
                // that this process runs.
                guard connections.add(1, ordering: .relaxed).newValue <= limit else {
                    connections.subtract(1, ordering: .relaxed)
                    try? line.send(Greeting(process: getpid()))
                    continue
                }
                // It counts until presenters have taken all calls, so that no more of these wait than of so many.
                WorkQueue().start {
                    let presenters = serve(line, in: place)
                    presenters.end { connections.subtract(1, ordering: .relaxed) }
                }
            } catch {
                // No further descriptor, for one.
                usleep(10_000)
            }
        }
    }

    /// Lines of another process are input of somebody who may be hostile; all that they can do is ask presenters of
    /// items in this container.
    /// - Returns: the presenters that were asked, for the end of the access.
    private static func serve(_ connection: LineConnection, in place: CoordinationPlace) -> AskedPresenters {
        let limits = CoordinationLimits()
        let presenters = AskedPresenters([])
        func greet() { try? connection.send(Greeting(process: getpid())) }
        // The one who asks may be gone: this process did not run. Its question is read all the same.
        greet()
        let question = try? connection.receive(PresenterQuestion.self, until: .nanoseconds(in: limits.presenters))
        guard var question, question.isValid else { return presenters }

        /// - Returns: whether they are ready. They have longer than the one who asks waits.
        func ask() -> Bool {
            presenters.ask(PresenterRegistry.sessions(for: question, in: place, but: presenters.presenters))
            guard case .answered(let error) = presenters.wait(until: .nanoseconds(in: limits.presenters * 2)) else {
                return false
            }
            try? connection.send(PresenterAnswer(error))
            return true
        }

        guard ask() else { return presenters }
        for _ in 0..<limits.moves {
            guard let notice = try? connection.receive(PresenterNotice.self, until: nil), notice.move.isValid else {
                break
            }
            let move = notice.move
            if notice.kind == .made {
                presenters.tell(move, to: move.to.map { place.url(of: $0) })
            } else {
                presenters.follow(move)
                _ = question.follow(move)
                guard notice.kind == .asking else { continue }
                greet()
                guard ask() else { break }
            }
        }
        return presenters
    }
}

/// A socket whose thread can be told to end.
private final class ListeningSocket: Sendable {
    private let socket: SharedDescriptor
    private let isStopped = Atomic(false)

    init(_ socket: SharedDescriptor) {
        self.socket = socket
    }

    /// Waits for the next connection.
    /// - Returns: nil when the socket is stopped.
    func accept() throws(SystemError) -> SharedDescriptor? {
        while true {
            _ = try socket.descriptor.waitUntilReadable(within: -1)
            guard !isStopped.load(ordering: .acquiring) else { return nil }
            do throws(SystemError) {
                return try socket.descriptor.accept()
            } catch {
                guard error == .wouldBlock else { throw error }
            }
        }
    }

    /// Wakes the thread that waits.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        socket.descriptor.stopListening()
    }
}
