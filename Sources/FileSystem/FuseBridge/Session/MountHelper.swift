// Runs fusermount3, the set-user-ID program that mounts for users other than root.
//
// libfuse could run it too, but would let it print to the terminal; here its message becomes part of ours.

import CPlatform
import Glibc
import Platform
import SandboxModel
import Synchronization

enum MountHelper {
    /// Held while a child has copies of this process's descriptors, and while a session stops. A child that closes a
    /// descriptor in a mount waits for the mount's session: if that stopped meanwhile, the child would hang and keep
    /// the connection open.
    static let spawning = Mutex(())

    /// Mounts. Blocks until the helper has ended.
    /// - Parameter options: as for `fusermount3 -o`, separated by commas.
    /// - Returns: the descriptor of the connection, which the caller closes.
    /// - Throws: ``MountFailure`` of kind `unavailable`, `configuration`, `mountPoint` or `refused`.
    static func mount(at path: String, options: String) throws(MountFailure) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe platform_socket_pair(&ends) == 0 else { throw MountFailure.system("no socket", errno) }
        let socket = Descriptor(owning: ends[0])
        let theirs = Descriptor(owning: ends[1])
        if let words = try run(["-o", options, "--", path], socket: theirs.number) {
            // The kernel's own EPERM: the helper is root by its set-user-ID bit, and that was not enough.
            if words.hasSuffix("mount failed: Operation not permitted") {
                throw MountFailure(
                    .configuration,
                    "this process may not mount at \(path), nor may fusermount3 for it: in a container, give it "
                        + "--cap-add SYS_ADMIN --device /dev/fuse, and leave out no-new-privileges")
            }
            throw MountFailure(.mountPoint, "\(path) cannot be mounted on: \(words)")
        }
        // Closed first, so that receiving fails rather than blocks if the helper sent nothing.
        _ = consume theirs
        let device = platform_receive_descriptor(socket.number)
        guard device >= 0 else { throw MountFailure.system("fusermount3 gave no connection", errno) }
        return device
    }

    /// Unmounts, with `lazily` as MNT_DETACH does. Blocks until the helper has ended.
    /// - Throws: ``MountFailure`` of kind `busy`, `unavailable` or `refused`.
    static func unmount(_ path: String, lazily: Bool) throws(MountFailure) {
        if let words = try run(["-u"] + (lazily ? ["-z"] : []) + ["--", path]) {
            throw words.hasSuffix("busy")
                ? Session.inUse(path) : MountFailure(.refused, "\(path) cannot be unmounted: \(words)")
        }
    }

    /// Runs the helper and waits for it.
    /// - Returns: nil on success, otherwise the last line of its output.
    private static func run(_ words: [String], socket: Int32? = nil) throws(MountFailure) -> String? {
        guard let helper = Preconditions.helper() else {
            throw MountFailure(
                .unavailable, "fusermount3 is missing, and only root can mount without it: install the package fuse3")
        }
        var ends: [Int32] = [-1, -1]
        guard unsafe platform_pipe(&ends) == 0 else { throw MountFailure.system("no pipe", errno) }
        let output = Descriptor(owning: ends[0])
        let input = Descriptor(owning: ends[1])
        let child: pid_t
        do throws(SystemError) {
            child = try spawning.withLock { _ throws(SystemError) in
                // LC_ALL, as its words are compared. _FUSE_COMMFD is the socket over which it sends the descriptor.
                try ProcessStart.start(
                    executable: helper, arguments: words,
                    environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "_FUSE_COMMFD=3"],
                    descriptors: [nil, nil, input.number] + (socket.map { [$0] } ?? []))
            }
        } catch {
            throw MountFailure.system("\(helper) cannot be started", error.code)
        }
        _ = consume input
        let said = (try? output.readToEnd()) ?? []
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
        return status == 0 ? nil : lastLine(said)
    }

    /// The last line of the output, without the prefix `fusermount3: `.
    private static func lastLine(_ bytes: [UInt8]) -> String {
        let line = String(decoding: bytes.split(separator: UInt8(ascii: "\n")).last ?? [], as: UTF8.self)
        guard let name = line.firstRange(of: "fusermount3: ") else {
            return line.isEmpty ? "fusermount3 failed" : line
        }
        return String(line[name.upperBound...])
    }
}
