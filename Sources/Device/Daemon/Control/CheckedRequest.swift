// What a request names, looked at before the device hears of it.
//
// The daemon's working directory is the root, which no client means by a relative path; and a system call would take
// a path up to its first NUL for the whole of it.

import AppContainer
import SandboxModel

/// A request that names what not every string can name.
protocol CheckedRequest {
    /// - Throws: ``Complaint`` of kind `badRequest`.
    func check() throws(Complaint)
}

extension PasscodeRequest: CheckedRequest {
    func check() throws(Complaint) {
        for (passcode, name, isNeeded) in [(old, "old", action != .set), (new, "new", action != .remove)] {
            guard (passcode != nil) != isNeeded else { continue }
            throw Complaint(
                .badRequest, "passcode: \(action.rawValue) \(isNeeded ? "needs" : "takes no") \"\(name)\"")
        }
    }
}

extension InstallRequest: CheckedRequest {
    func check() throws(Complaint) { try requireAbsolute(app, "app") }
}

extension DeviceOrder: CheckedRequest {
    func check() throws(Complaint) {
        guard !device.isEmpty else { throw Complaint(.badRequest, "device has to be an absolute path") }
        try requireAbsolute(device, "device")
        if let clone { try requireAbsolute(clone, "clone") }
        for request in install ?? [] { try request.check() }
    }
}

extension DeliverRequest: CheckedRequest {
    func check() throws(Complaint) {
        for file in files { try requireAbsolute(file, "each of files") }
    }
}

extension MountRequest: CheckedRequest {
    func check() throws(Complaint) {
        if let mountPoint { try requireAbsolute(mountPoint, "mountPoint") }
    }
}

extension UnmountRequest: CheckedRequest {
    func check() throws(Complaint) { try requireAbsolute(mountPoint, "mountPoint") }
}

extension MountEndRequest: CheckedRequest {
    func check() throws(Complaint) { try requireAbsolute(mountPoint, "mountPoint") }
}

extension BackupRequest: CheckedRequest {
    func check() throws(Complaint) {
        try requireAbsolute(output, "output")
        if let since { try requireAbsolute(since, "since") }
    }
}

extension RestoreRequest: CheckedRequest {
    func check() throws(Complaint) { try requireAbsolute(input, "input") }
}

extension InspectRequest: CheckedRequest {
    func check() throws(Complaint) { try requireNoNUL(path, "path") }
}

/// An empty path names nothing, whatever it was relative to: what is missing then is said by who looks for it.
private func requireAbsolute(_ path: String, _ name: String) throws(Complaint) {
    try requireNoNUL(path, name)
    guard path.isEmpty || path.hasPrefix("/") else {
        throw Complaint(.badRequest, "\(name) has to be an absolute path")
    }
}

private func requireNoNUL(_ text: String, _ name: String) throws(Complaint) {
    guard !text.utf8.contains(0) else { throw Complaint(.badRequest, "\(name) must not hold a NUL character") }
}
