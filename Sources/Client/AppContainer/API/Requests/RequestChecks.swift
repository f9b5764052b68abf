// Rules for the parameters of several requests.
//
// The daemon's working directory is the root, which no client means by a relative path; and a system call would end a
// path at its first NUL. Identifiers and passwords are checked here, and not at work: an answer in lines has begun
// by then, with the status 200.

import FoundationEssentials
import SandboxModel

/// Requires an absolute path without NUL.
/// - Parameters:
///   - name: the parameter, as the message names it.
///   - empty: the kind for an empty path, which names nothing (path_resolution(7)).
/// - Throws: an error of kind `badRequest`, or of the kind `empty`.
func requireAbsolute(
    _ path: String, _ name: String, empty: DeviceError.Kind = .notFound
) throws(DeviceError) {
    try requireNoNUL(path, name)
    guard !path.isEmpty else { throw DeviceError(empty, "\(name) is empty, and names nothing; give an absolute path") }
    guard path.utf8.first == UInt8(ascii: "/") else {
        throw DeviceError(.badRequest, "\(name) has to be an absolute path")
    }
}

/// - Throws: an error of kind `badRequest` for a text with a NUL character.
func requireNoNUL(_ text: String, _ name: String) throws(DeviceError) {
    guard !text.utf8.contains(0) else { throw DeviceError(.badRequest, "\(name) must not hold a NUL character") }
}

/// Requires an app, and a path that can be one in its home.
/// - Parameter pathBytes: the path's bytes in base64 (RFC 4648, section 4), with its padding; null is none.
/// - Throws: an error of kind `invalidIdentifier` or `badRequest`.
func requireFile(_ path: String, _ pathBytes: String?, of app: String) throws(DeviceError) {
    try requireIdentifier(app)
    try requireNoNUL(path, "path")
    guard let pathBytes, Data(base64Encoded: pathBytes) == nil else { return }
    throw DeviceError(.badRequest, "\"pathBytes\" are not bytes in base64")
}

/// Requires a number that a process can have: 0 and negative ones mean groups of processes to some system calls.
/// - Throws: an error of kind `badRequest`.
func requireProcess(_ number: Int32, _ name: String) throws(DeviceError) {
    guard number >= 1 else { throw DeviceError(.badRequest, "\(name) is not the number of a process; give 1 or more") }
}

/// Requires the identifier of an app, or of a container.
/// - Throws: an error of kind `invalidIdentifier`.
func requireIdentifier(_ text: String) throws(DeviceError) {
    guard let flaw = ContainerIdentifier.flaw(of: text) else { return }
    throw DeviceError(.invalidIdentifier, "'\(text)' is not an identifier: \(flaw)")
}

/// Requires identifiers; null is an empty list.
/// - Throws: an error of kind `invalidIdentifier`.
func requireIdentifiers(_ texts: [String]?) throws(DeviceError) {
    for text in texts ?? [] { try requireIdentifier(text) }
}

/// Requires a password that can be the first line of a file.
/// - Parameter name: a word for the message, such as "passcode".
/// - Throws: an error of kind `invalidPasscode`.
func requireOneLine(_ password: String, _ name: String) throws(DeviceError) {
    guard !password.isEmpty else {
        throw DeviceError(.invalidPasscode, "the new \(name) is empty; give one of at least one character")
    }
    guard !password.utf8.contains(UInt8(ascii: "\n")) else {
        throw DeviceError(.invalidPasscode, "the new \(name) is more than one line; give one without an end of line")
    }
    guard password.utf8.last != UInt8(ascii: "\r") else {
        throw DeviceError(
            .invalidPasscode,
            "the new \(name) ends with a carriage return, which the first line of a file does not keep; "
                + "give one without it")
    }
}
