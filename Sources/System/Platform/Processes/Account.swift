// Users of the host, by name.

import Glibc

/// An entry of the user database.
public struct Account: Sendable {
    public let user: UInt32
    public let group: UInt32

    /// - Parameter name: a login name, or a number for a user that the database has or has not.
    public static func named(_ name: String) -> Account? {
        // An entry is valid until the next call of its kind; commands ask from one thread.
        if let entry = unsafe getpwnam(name) {
            return unsafe Account(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
        }
        guard let number = UInt32(name) else { return nil }
        if let entry = unsafe getpwuid(number) { return unsafe Account(user: number, group: entry.pointee.pw_gid) }
        return Account(user: number, group: number)
    }

    public static func name(of user: UInt32) -> String? {
        guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else { return nil }
        return unsafe String(cString: name)
    }
}
