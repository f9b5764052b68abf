// The replies to OPEN and CREATE, and the conversion between handle objects and the kernel's handle numbers.

import CFuse
import Glibc

/// The kernel's number for a handle is the object's address. The session retains the object until RELEASE.
enum HandleReference {
    static func make(_ handle: some AnyObject, in session: Session) -> UInt64 {
        // Balanced in `end`, which runs once for each reference: at RELEASE or at the session's end.
        let address = unsafe Unmanaged.passRetained(handle).toOpaque()
        let number = UInt64(UInt(bitPattern: address))
        session.recordOpen(number)
        return number
    }

    /// The object behind the kernel's number; nil if the request carries none.
    @inline(__always)
    static func object<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type) -> Handle? {
        // The kernel sends only numbers that a reply gave it, and none after RELEASE. All handles of a session have
        // one type, so no cast is needed.
        guard let address = unsafe UnsafeRawPointer(bitPattern: UInt(number)) else { return nil }
        return unsafe Unmanaged<Handle>.fromOpaque(address).takeUnretainedValue()
    }

    /// Releases the reference.
    /// - Returns: the object; nil if the kernel does not hold this number, which is then not used as an address.
    static func end<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type, in session: Session) -> Handle? {
        guard session.removeOpen(number), let address = unsafe UnsafeRawPointer(bitPattern: UInt(number)) else {
            return nil
        }
        return unsafe Unmanaged<Handle>.fromOpaque(address).takeRetainedValue()
    }

    static func information(_ number: UInt64, keepsContent: Bool = true) -> fuse_file_info {
        var information = fuse_file_info()
        information.fh = number
        // FOPEN_KEEP_CACHE: content that changes otherwise than through the mount is invalidated by a notification.
        information.keep_cache = keepsContent ? 1 : 0
        return information
    }
}

/// The reply to OPEN.
public struct OpenReply<Handle: AnyObject & Sendable>: ~Copyable, Reply {
    let token: ReplyToken
    unowned let session: Session

    /// - Parameter keepsContent: whether the kernel may show what it holds of the file's content. Otherwise it drops
    ///   that before open(2) returns.
    /// - Returns: false if the kernel did not take the reply: the filesystem must close the handle itself.
    @discardableResult
    public consuming func opened(_ handle: Handle, keepsContent: Bool = true) -> Bool {
        // Before the reply, as RELEASE may be served by another worker before this function returns.
        let number = HandleReference.make(handle, in: session)
        var information = HandleReference.information(number, keepsContent: keepsContent)
        if unsafe fuse_reply_open(token.take(), &information) == 0 { return true }
        _ = HandleReference.end(number, as: Handle.self, in: session)
        return false
    }

    public consuming func fail(_ code: Int32) { token.fail(code) }
    public var caller: RequestCaller { token.caller }
}

/// The reply to CREATE.
public struct CreateReply<Handle: AnyObject & Sendable>: ~Copyable, Reply {
    let token: ReplyToken
    unowned let session: Session

    /// - Returns: false if the kernel did not take the reply: the filesystem must close the handle itself, and the
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
