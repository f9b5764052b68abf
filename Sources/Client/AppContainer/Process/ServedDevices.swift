// The search for the devices that processes of this user serve, by their control sockets.

import FoundationEssentials
import Glibc
import Platform
import SandboxModel

/// Believes nothing that lies beside the sockets, nor what answers there: a directory has to be this user's alone, an
/// entry a socket of this user's, the process at it this user's or root's, and its answer that of a device whose socket
/// this is. A socket that nobody listens at was left by a process that was killed, and is no device.
struct ServedDevices {
    /// The time that a process has to take a connection and to answer.
    let patience: Duration

    /// Sockets that are asked at once. Each takes two descriptors, of 1024 that a process has by default.
    private static let width = 200
    /// Bytes of an answer; that of a device with a thousand mounts has some 300 KiB.
    private static let longestAnswer = 8 << 20

    /// The devices, by their paths.
    func all(environment: [String: String]) async -> [ListedDevice] {
        let directories = ControlSockets.everyDirectory(of: ActingUser.starter, environment: environment)
        // A directory may have several paths, such as one through the link /var/run.
        var seen: Set<HostFile> = []
        var sockets = directories.flatMap { ServedDevices.sockets(in: $0, unless: &seen) }[...]
        var found: [ListedDevice] = []
        await withTaskGroup(of: ListedDevice?.self) { group in
            func begin() {
                guard let socket = sockets.popFirst() else { return }
                group.addTask { await ask(socket) }
            }
            for _ in 0..<ServedDevices.width { begin() }
            for await device in group {
                if let device { found.append(device) }
                begin()
            }
        }
        return found.sorted { ($0.device ?? "", $0.socket) < ($1.device ?? "", $1.socket) }
    }

    /// A file of the host by its st_dev and st_ino.
    private struct HostFile: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// The sockets of a directory that only this user can enter. None for a directory of another kind, for a link, and
    /// for one that was seen.
    private static func sockets(in directory: String, unless seen: inout Set<HostFile>) -> [String] {
        ActingUser.asSuperuser { () -> [String] in
            let user = ActingUser.starter
            guard
                let opened = try? Descriptor.open(path: directory, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
                let status = try? opened.status(), status.owner == user, status.permissions & 0o077 == 0,
                seen.insert(HostFile(device: UInt64(status.raw.st_dev), inode: status.inode)).inserted,
                let entries = try? opened.entries()
            else { return [] }
            var sockets: [String] = []
            while let entry = try? entries.next() {
                guard ControlSockets.isName(entry.name.text), let status = try? opened.status(of: entry.name),
                    status.kind == .socket, status.owner == user
                else { continue }
                sockets.append("\(directory)/\(entry.name.text)")
            }
            return sockets
        }
    }

    /// Asks the process at a socket.
    /// - Returns: nil where nobody listens, or somebody else.
    private func ask(_ socket: String) async -> ListedDevice? {
        await withTaskGroup(of: Finding.self) { group in
            let listener = Listener()
            group.addTask { await ServedDevices.status(at: socket, listener) }
            group.addTask {
                try? await Task.sleep(for: patience)
                return .late
            }
            let first = await group.next() ?? .late
            group.cancelAll()
            return ServedDevices.device(first, at: socket, process: await listener.process)
        }
    }

    /// The end of a question.
    private enum Finding: Sendable {
        case answer(DeviceStatus)
        /// Nobody listens, or another user.
        case nobody
        /// Somebody answers, and not as a device does.
        case other
        case late
    }

    /// The process at the other end, which is known before its answer comes.
    private actor Listener {
        private(set) var process: Int32?

        func note(_ process: Int32?) {
            self.process = process
        }
    }

    private static func status(at socket: String, _ listener: Listener) async -> Finding {
        var isConnected = false
        do throws(DeviceError) {
            var connection = try await ControlConnection(to: socket, of: nil)
            isConnected = true
            await listener.note(connection.process)
            let code = try await connection.send(
                method: "GET", path: ControlPath.root + StatusRequest.path, accept: ControlMedia.json, body: [])
            guard code == 200 else { return .other }
            let body = try await connection.rest(atMost: longestAnswer)
            return .answer(try DeviceClient.decode(DeviceStatus.self, from: body, of: connection.server))
        } catch {
            switch error.kind {
            case .cancelled: return .late
            case .daemonUnreachable where !isConnected, .notAllowed: return .nobody
            // It ended while it was asked.
            case .daemonEnded: return .nobody
            default: return .other
            }
        }
    }

    /// The device of an answer, if it says what the device at this socket would.
    private static func device(_ finding: Finding, at socket: String, process: Int32?) -> ListedDevice? {
        if case .nobody = finding { return nil }
        if case .answer(let status) = finding, let directory = HostPath.place(of: socket)?.directory,
            socket == ControlSockets.path(in: directory, device: status.device, identifier: status.identifier)
        {
            return ListedDevice(
                status, device: status.device, isThere: isThere(status.device), pid: process, socket: socket)
        }
        let device = process.flatMap(deviceOnCommandLine)
        return ListedDevice(nil, device: device, isThere: device.map(isThere) ?? true, pid: process, socket: socket)
    }

    /// Whether a device's directory has its record. One that may not be looked at counts as there.
    private static func isThere(_ device: String) -> Bool {
        do throws(SystemError) {
            _ = try HostPath.status(device + "/Device.json", following: false)
            return true
        } catch {
            return error != .noEntry && error != .notDirectory
        }
    }

    /// The device that a process was started for: `appcontainer daemon DEVICE`.
    private static func deviceOnCommandLine(_ process: Int32) -> String? {
        guard let line = try? HostPath.contents("/proc/\(process)/cmdline", limit: 1 << 16) else { return nil }
        let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[1] == "daemon", words[2].hasPrefix("/") else { return nil }
        return words[2]
    }
}
