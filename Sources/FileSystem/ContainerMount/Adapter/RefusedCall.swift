// Calls that a rule of the sandbox refuses: told to whoever keeps the record, before the caller has its errno.

public import ContainerVolume
import FuseBridge
import Glibc
public import Platform
public import SandboxModel

/// A system call by its name in the manual, as far as a rule can refuse it.
public enum CallName: String, CaseIterable, Sendable {
    case open, create, read, write, truncate, mkdir, rmdir, unlink, rename, link, symlink, mknod, chmod, chown
    case utimensat, setxattr, removexattr, setflags, fallocate, lseek, fsync
    case copyFileRange = "copy_file_range"
}

/// A system call on a mount that a rule has refused.
public struct RefusedCall: Sendable {
    public let rule: Rule
    public let call: CallName
    /// What the rule protects. Of a rename or a link that is the side for whose sake it was refused.
    public let place: Whereabouts
    /// What the call answers.
    public let error: SystemError
    /// The process that called: nil for the kernel itself, which writes late, and for one that cannot be seen.
    public let process: HostProcess?
    /// How many before it, of the same process and by the same rule, were not told.
    public let omitted: Int
}

extension VolumeFileSystem {
    /// Answers a call that failed.
    /// - Parameters:
    ///   - node: what the call is about, or the directory of `name`.
    ///   - name: the entry, of a call that names one.
    func fail<Answer: Reply & ~Copyable>(
        _ reply: consuming Answer, _ fault: Fault, _ call: CallName, of node: NodeID, _ name: FileName? = nil
    ) {
        fail(reply, fault, call) { _ in volume.whereabouts(of: node, name) }
    }

    func fail<Answer: Reply & ~Copyable>(
        _ reply: consuming Answer, _ fault: Fault, _ call: CallName, at place: (Rule) -> Whereabouts
    ) {
        // The caller waits until the reply is sent: so long it cannot end, and its number is its own.
        if case .refused(let rule) = fault { report(rule, call, fault, of: reply.caller, at: place) }
        reply.fail(fault.errno)
    }

    private func report(
        _ rule: Rule, _ call: CallName, _ fault: Fault, of caller: RequestCaller, at place: (Rule) -> Whereabouts
    ) {
        // What the kernel writes out late was refused to nobody: its range is told when it is known.
        if call == .write, caller.process == 0 { return }
        // First of all: in a flood nothing is looked up for what is not told.
        guard let omitted = events.admits(rule, caller.process) else { return }
        let process = caller.process == 0 ? nil : HostProcess(ofThread: caller.process)
        // What the daemon does on its own mount is nobody's attempt.
        guard process?.id != getpid() else { return }
        events.refused(
            RefusedCall(
                rule: rule, call: CallName(call, ofThread: caller.process), place: place(rule),
                error: SystemError(code: fault.errno), process: process, omitted: omitted))
    }
}

/// The system call on whose behalf the calling thread serves a request.
public struct CallInHand: Sendable {
    /// nil for a call that is about no content.
    public let call: CallName?
    /// nil for the kernel itself, which writes late, and for one that cannot be seen.
    public let process: HostProcess?

    /// nil on a thread that serves no requests.
    public static var current: CallInHand? {
        guard let request = CurrentRequest.current else { return nil }
        return CallInHand(
            call: request.kind.map { CallName($0, ofThread: request.process) },
            process: request.process == 0 ? nil : HostProcess(ofThread: request.process))
    }
}

extension CallName {
    /// The kernel reads a block before it changes a part of it: the caller is looked at.
    fileprivate init(_ kind: CurrentRequest.Kind, ofThread thread: pid_t) {
        switch kind {
        case .open: self = .open
        case .create: self = .create
        case .read: self = CallName(.write, ofThread: thread, unseen: .read)
        case .write: self = .write
        // Of all changes of attributes only that of the length reaches content.
        case .changeAttributes: self = .truncate
        case .allocate: self = .fallocate
        case .seek: self = .lseek
        case .copy: self = .copyFileRange
        case .synchronize: self = .fsync
        }
    }

    /// What the kernel asks before a write it asks in other calls on content too: the caller is looked at.
    /// - Parameter unseen: where the caller cannot be looked at; `asked` when nil.
    fileprivate init(_ asked: CallName, ofThread thread: pid_t, unseen: CallName? = nil) {
        guard asked == .write, thread != 0, let call = HostProcess.contentCall(ofThread: thread) else {
            self = unseen ?? asked
            return
        }
        self =
            switch call {
            case .read: .read
            case .write: .write
            case .truncate: .truncate
            case .fallocate: .fallocate
            }
    }

    /// The call behind a change of attributes that was refused. The kernel may put several changes into one request:
    /// they are asked about in this order, and content is protected from a change of length only.
    init(_ change: FileStatusChange, _ fault: Fault) {
        self =
            if change.size != nil, fault == .refused(.dataProtection) {
                .truncate
            } else if change.mode != nil {
                .chmod
            } else if change.owner != nil || change.group != nil {
                .chown
            } else if change.size != nil {
                .truncate
            } else {
                .utimensat
            }
    }
}
