// The changes of files on a device, and those who follow them.

import AppContainer
import ContainerVolume
import Platform
import SandboxModel
import Synchronization

/// Passes changes of files on to the followers. While nobody follows, a call on a mount costs one look at a number.
///
/// Lock: its own, above those of the followers, for moments only.
final class ChangeFeed: Sendable {
    private struct State {
        var followers: [UInt64: Weak] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private struct Weak {
        weak var follower: ChangeFollower?
    }

    private let count = Atomic<Int>(0)
    private let state = Mutex(State())

    /// Whether anybody follows.
    var isFollowed: Bool { count.load(ordering: .relaxed) > 0 }

    /// Follows the changes from now on, until the follower is released or the device ends.
    func follow() -> ChangeFollower {
        state.withLock { state in
            state.last += 1
            let number = state.last
            let follower = ChangeFollower { [weak self] in self?.remove(number) }
            if state.isOver { follower.end() }
            state.followers[number] = Weak(follower: follower)
            count.store(state.followers.count, ordering: .relaxed)
            return follower
        }
    }

    private func remove(_ number: UInt64) {
        state.withLock { state in
            state.followers[number] = nil
            count.store(state.followers.count, ordering: .relaxed)
        }
    }

    /// Records that a file has changed, or the entries of a directory.
    func record(_ place: HomePath) {
        // A file that has no name any more is in no listing.
        guard let path = place.path else { return }
        // Of a path that is cut nobody could list the directory.
        let whole = place.cut > 0 ? nil : path
        record(
            FileChange(
                app: place.app?.text, path: whole, pathBytes: whole == nil ? nil : place.bytes.map(PathBytes.text)))
    }

    /// Records a change that no call on a mount has made.
    /// - Parameter path: nil where anything of the app may have changed.
    func record(app: ContainerIdentifier?, path: [UInt8]? = nil) {
        guard isFollowed else { return }
        let text = path.map { String(decoding: $0, as: UTF8.self) }
        record(FileChange(app: app?.text, path: text, pathBytes: path.flatMap(PathBytes.unlessText)))
    }

    /// Records the change of files that an event tells of, if it does.
    func record(_ event: Event) {
        guard isFollowed else { return }
        switch event.event {
        case .purged, .cleaned, .delivered:
            let names = HostPath.names(of: event.path ?? "").dropLast()
            let path = names.joined(separator: "/")
            // An event has text alone, which may stand for bytes that are none.
            let isWhole = event.pathCut == nil && !path.unicodeScalars.contains("\u{fffd}")
            record(FileChange(app: event.app, path: isWhole ? path : nil))
        case .installed: record(FileChange(app: event.app, path: nil))
        default: break
        }
    }

    private func record(_ change: FileChange) {
        let place = change.place
        for follower in followers { follower.add(change, at: place) }
    }

    /// Strong references, released outside of the lock: the last one takes it.
    private var followers: [ChangeFollower] { state.withLock { $0.followers.values.compactMap(\.follower) } }

    /// Ends the changes at the end of the device.
    func end() {
        state.withLock { $0.isOver = true }
        for follower in followers { follower.end() }
    }
}
