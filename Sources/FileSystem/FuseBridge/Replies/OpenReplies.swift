// The answers that give the kernel a handle, and the way back from the kernel's number to the object.

import CFuse
import Glibc

/// Open files as the kernel names them: the address of the object, which the session retains until RELEASE.
enum HandleReference {
    static func make(_ handle: some AnyObject, in session: Session) -> UInt64 {
        // Balanced in `end`, which runs exactly once for each reference: at RELEASE or at the session's end.
        let address = unsafe Unmanaged.passRetained(handle).toOpaque()
        let number = UInt64(UInt(bitPattern: address))
        session.recordOpen(number)
        return number
    }

    /// The object behind the kernel's number; nil when the request carries none.
    @inline(__always)
    static func object<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type) -> Handle? {
        // The kernel gives back only what a reply gave it, and nothing after RELEASE. Every reply of one session
        // takes handles of one type, so no cast is needed.
        guard let address = unsafe UnsafeRawPointer(bitPattern: UInt(number)) else { return nil }
        return unsafe Unmanaged<Handle>.fromOpaque(address).takeUnretainedValue()
    }

    /// Gives the reference up.
    static func end<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type, in session: Session) -> Handle? {
        guard session.removeOpen(number), let address = unsafe UnsafeRawPointer(bitPattern: UInt(number)) else {
            return nil
        }
        return unsafe Unmanaged<Handle>.fromOpaque(address).takeRetainedValue()
    }

    static func information(_ number: UInt64) -> fuse_file_info {
        var information = fuse_file_info()
        information.fh = number
        // What the kernel cached of the file before stays: whoever changes content behind it sends a notification.
        information.keep_cache = 1
        return information
    }
}

public struct OpenReply<Handle: AnyObject & Sendable>: ~Copyable, Reply {
    let token: ReplyToken
    unowned let session: Session

    /// - Returns: false when the kernel did not take the answer: the filesystem closes the handle itself.
    @discardableResult
    public consuming func opened(_ handle: Handle) -> Bool {
        let number = HandleReference.make(handle, in: session)
        var information = HandleReference.information(number)
        if unsafe fuse_reply_open(token.take(), &information) == 0 { return true }
        _ = HandleReference.end(number, as: Handle.self, in: session)
        return false
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

public struct CreateReply<Handle: AnyObject & Sendable>: ~Copyable, Reply {
    let token: ReplyToken
    unowned let session: Session

    /// - Returns: false when the kernel did not take the answer: the filesystem closes the handle itself, and the
    ///   kernel holds no reference to the node.
    @discardableResult
    public consuming func created(_ entry: KernelEntry, _ handle: Handle) -> Bool {
        let number = HandleReference.make(handle, in: session)
        var information = HandleReference.information(number)
        var parameters = entry.parameters
        if unsafe fuse_reply_create(token.take(), &parameters, &information) == 0 { return true }
        _ = HandleReference.end(number, as: Handle.self, in: session)
        return false
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}
