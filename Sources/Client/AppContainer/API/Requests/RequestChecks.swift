// Rules for the parameters of several requests.
//
// The daemon's working directory is the root, which no client means by a relative path; and a system call would end a
// path at its first NUL.

/// Requires an absolute path without NUL. An empty path passes: the call that opens it says that it is missing.
/// - Parameter name: the parameter, as the message names it.
/// - Throws: an error of kind `badRequest`.
func requireAbsolute(_ path: String, _ name: String) throws(DeviceError) {
    try requireNoNUL(path, name)
    guard path.isEmpty || path.hasPrefix("/") else {
        throw DeviceError(.badRequest, "\(name) has to be an absolute path")
    }
}

/// - Throws: an error of kind `badRequest` for a text with a NUL character.
func requireNoNUL(_ text: String, _ name: String) throws(DeviceError) {
    guard !text.utf8.contains(0) else { throw DeviceError(.badRequest, "\(name) must not hold a NUL character") }
}
