// The user in whose name this process acts: its own, or the owner of the device that the superuser serves.

import CPlatform
public import Glibc
public import SandboxModel
import Synchronization

/// A process of the superuser that serves another user's device acts as that user: the kernel then refuses it every
/// file that the user could not open anyway, whatever the user plants in the device. Mounts, the runtime directory and
/// sysfs are the superuser's still, for the moment of each call (``asSuperuser(_:)``).
///
/// It is the effective user that changes, so that `geteuid()` tells everywhere whose files are meant.
public enum ActingUser {
    /// Set once, and never reset.
    private static let isOther = Atomic<Bool>(false)

    /// Whether this process may mount, and reach what is the superuser's.
    public static var isPrivileged: Bool { isActing || geteuid() == 0 }

    /// Whether the superuser's process acts as another user.
    public static var isActing: Bool { isOther.load(ordering: .relaxed) }

    /// The user that started this process, whom its control socket belongs to.
    public static var starter: uid_t { isActing ? 0 : geteuid() }

    /// `setgroups(2)`, `setresgid(2)` and `setresuid(2)` of the effective identity, for all threads of a superuser's
    /// process, and for its whole life.
    ///
    /// - Parameter group: the primary group.
    /// - Throws: EPERM where this process is not the superuser's, or acts as another user already.
    public static func become(_ user: uid_t, group: gid_t) throws(SystemError) {
        guard geteuid() == 0, !isActing else { throw .notPermitted }
        try systemCall { platform_act_as(user, group) }
        isOther.store(true, ordering: .relaxed)
    }

    /// `setresuid(2)` before and after, on this thread alone: runs `body` as the superuser that started this process;
    /// as it is where this process acts in its own name.
    ///
    /// `body` makes calls on what is the superuser's own, and starts no thread, which would keep the right.
    @inline(__always)
    @discardableResult
    public static func asSuperuser<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard isActing else { return try body() }
        let user = geteuid()
        // A thread that is the superuser already is in the middle of such a call.
        guard user != 0 else { return try body() }
        let group = getegid()
        guard platform_set_thread_user(0, 0) == 0 else { return try body() }
        defer {
            // A thread that kept the right would lend it to the device's owner.
            if platform_set_thread_user(user, group) != 0 { abort() }
        }
        return try body()
    }

    /// Runs `body`, which opens a path that this process's caller has named: as the superuser where no other user has a
    /// say in what the path leads to, else as the user this process acts as.
    @inline(__always)
    @discardableResult
    public static func reaching<Result: ~Copyable, Failure: Error>(
        _ path: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard isActing, asSuperuser({ isSuperusers(path) }) else { return try body() }
        return try asSuperuser(body)
    }

    /// Whether a path leads to a place without a link that somebody else than the superuser may have put there: links
    /// are followed in its beginning, as far as the superuser alone decides what that leads to.
    /// - Parameter resolved: the place that was reached by the path, without links.
    public static func leads(_ path: String, to resolved: String) -> Bool {
        guard let written = try? HostPath.absolute(path),
            let beginning = HostPath.withAncestors(written).first(where: { isSuperusers($0) }),
            let base = try? HostPath.resolved(beginning)
        else { return false }
        var names = HostPath.names(of: base)
        for name in HostPath.names(of: HostPath.rest(of: written, in: beginning) ?? written) where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return HostPath.areSame("/" + names.joined(separator: "/"), resolved)
    }

    /// Whether the superuser alone decides what a path leads to: each part of it, as it is written and as it is without
    /// links, is the superuser's, and nobody else may write there or rename in it. A last name that is missing is no
    /// part.
    static func isSuperusers(_ path: String) -> Bool {
        guard let written = try? HostPath.absolute(path) else { return false }
        var ends = [written]
        if let resolved = try? HostPath.resolved(written) {
            ends.append(resolved)
        } else {
            guard let above = HostPath.place(of: written)?.directory, let resolved = try? HostPath.resolved(above)
            else { return false }
            ends = [above, resolved]
        }
        return ends.flatMap { HostPath.withAncestors($0) }.allSatisfy { part in
            guard let status = try? HostPath.status(part, following: false), status.owner == 0 else { return false }
            return status.kind == .symbolicLink || status.permissions & (S_IWGRP | S_IWOTH) == 0
                || status.kind == .directory && status.permissions & S_ISVTX != 0
        }
    }
}
