// The user database of the host.

import Glibc

/// A user and its primary group.
public struct Account: Sendable {
    public let user: UInt32
    public let group: UInt32

    /// `getpwnam(3)`, then `getpwuid(3)`.
    /// - Parameter name: a login name, or a user ID, which need not be in the database.
    /// - Returns: nil for a name that is neither. A user ID that is not in the database gets the group of its number.
    public static func named(_ name: String) -> Account? {
        // Valid until the next such call. Only commands call this, from one thread.
        if let entry = unsafe getpwnam(name) {
            return unsafe Account(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
        }
        guard let number = UInt32(name) else { return nil }
        if let entry = unsafe getpwuid(number) { return unsafe Account(user: number, group: entry.pointee.pw_gid) }
        return Account(user: number, group: number)
    }

    /// `getpwuid(3)`: the login name of a user ID.
    public static func name(of user: UInt32) -> String? {
        guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else { return nil }
        return unsafe String(cString: name)
    }
}
