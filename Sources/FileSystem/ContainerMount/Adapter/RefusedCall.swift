// Makes the record of a system call that a sandbox rule refuses, and reports it before the caller gets its errno.

public import ContainerVolume
import FuseBridge
import Glibc
public import Platform
public import SandboxModel

/// The system calls that a rule can refuse, by their names in the manual.
public enum CallName: String, CaseIterable, Sendable {
    case open, create, read, write, truncate, mkdir, rmdir, unlink, rename, link, symlink, mknod, chmod, chown
    case utimensat, getxattr, setxattr, removexattr, setflags, fallocate, lseek, fsync
    case copyFileRange = "copy_file_range"
}

/// A system call on a mount that a rule refused.
public struct RefusedCall: Sendable {
    public let rule: Rule
    public let call: CallName
    /// The path that the rule protects. For a rename or a link, the side that was refused.
    public let place: HomePath
    /// The error of the call.
    public let error: SystemError
    /// The calling process; nil for the kernel's write-back, and for a process that is not visible here.
    public let process: HostProcess?
    /// The number of earlier refusals of the same process by the same rule that were not reported.
    public let omitted: Int
}

extension VolumeFileSystem {
    /// Replies to a call that failed, and reports it if a rule refused it.
    /// - Parameters:
    ///   - node: the node of the call, or the directory of `name`.
    ///   - name: the entry, of a call that names one.
    func fail<Answer: Reply & ~Copyable>(
        _ reply: consuming Answer, _ fault: Fault, _ call: CallName, of node: NodeID, _ name: FileName? = nil
    ) {
        fail(reply, fault, call) { _ in volume.homePath(of: node, name) }
    }

    func fail<Answer: Reply & ~Copyable>(
        _ reply: consuming Answer, _ fault: Fault, _ call: CallName, at place: (Rule) -> HomePath
    ) {
        // Before the reply: until then the caller's thread cannot end, so its number is still its own.
        if case .refused(let rule) = fault { report(rule, call, fault, of: reply.caller, at: place) }
        reply.fail(fault.errno)
    }

    private func report(
        _ rule: Rule, _ call: CallName, _ fault: Fault, of caller: RequestCaller, at place: (Rule) -> HomePath
    ) {
        // A refused write-back has no caller: its range is reported as lost.
        if call == .write, caller.thread == 0 { return }
        // First, so that a flood of refusals costs no lookups.
        guard let omitted = events.admits(rule, caller.thread) else { return }
        let process = caller.thread == 0 ? nil : HostProcess(ofThread: caller.thread)
        // The daemon's own calls on its mount are not reported.
        guard process?.id != getpid() else { return }
        events.refused(
            RefusedCall(
                rule: rule, call: CallName(call, ofThread: caller.thread), place: place(rule),
                error: SystemError(code: fault.errno), process: process, omitted: omitted))
    }
}

/// The system call whose request the calling thread serves.
public struct CallInHand: Sendable {
    /// nil for a call that does not reach content.
    public let call: CallName?
    /// nil for the kernel's write-back, and for a process that is not visible here.
    public let process: HostProcess?

    /// nil on a thread that serves no requests.
    public static var current: CallInHand? {
        guard let request = CurrentRequest.current else { return nil }
        return CallInHand(
            call: request.kind.map { CallName($0, ofThread: request.thread) },
            process: request.thread == 0 ? nil : HostProcess(ofThread: request.thread))
    }
}

extension CallName {
    /// A READ may belong to a write(2), because the kernel reads a block before it changes a part of it: look at the
    /// caller.
    fileprivate init(_ kind: CurrentRequest.Kind, ofThread thread: pid_t) {
        switch kind {
        case .open: self = .open
        case .create: self = .create
        case .read: self = CallName(.write, ofThread: thread, unseen: .read)
        case .write: self = .write
        // A change of size is the only SETATTR that reaches content.
        case .changeStatus: self = .truncate
        case .allocate: self = .fallocate
        case .seek: self = .lseek
        case .copy: self = .copyFileRange
        case .synchronize: self = .fsync
        }
    }

    /// The kernel's requests before a write(2) occur in other calls too, so this looks at the system call of the
    /// caller.
    /// - Parameter unseen: the result if the caller is not visible; `asked` if nil.
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
            case .seek: .lseek
            }
    }

    /// The call of a refused SETATTR. It may hold several changes, which the volume checks in this order; data
    /// protection refuses a change of size only.
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
