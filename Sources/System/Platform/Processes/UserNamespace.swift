// A user namespace for a program that the superuser confines.

import CProcess
public import SandboxModel

/// A user namespace in which root and one other user are themselves, and nobody else is anybody. Processes in it have
/// root's capabilities over what belongs to it, and to files of the two users, and none on the host.
public struct UserNamespace: Sendable {
    private let file: SharedDescriptor

    /// The number by which a program finds the namespace of its plan.
    public static let descriptor: Int32 = PROCESS_NAMESPACE

    /// `clone(2)` with `CLONE_NEWUSER`, and the maps of user_namespaces(7).
    /// - Parameters:
    ///   - user, group: identifiers of the host that files in it show, besides root's.
    /// - Throws: EPERM where this process is not the superuser's, ENOSPC where the host allows no user namespace.
    public init(showing user: UInt32, group: UInt32) throws(SystemError) {
        var number: Int32 = -1
        try systemCall {
            number = process_make_namespace(user, group)
            return number
        }
        file = SharedDescriptor(Descriptor(owning: number))
    }

    var number: Int32 { file.descriptor.number }
}
