// The device that serves a mounted home.

import Foundation
import Platform

/// The control socket of a home's device, and the app whose home it is.
struct HomeDevice {
    let socket: String
    /// The app's identifier.
    let app: String

    /// The part of DEVICE/daemon.json that is used here.
    private struct Record: Decodable {
        let socket: String
    }

    init(socket: String, app: String) {
        self.socket = socket
        self.app = app
    }

    /// - Parameter home: any path in the home.
    /// - Returns: nil if the home's mount or its device is not visible to this process.
    init?(of home: String) {
        guard let home = Home(around: home)?.path, let mounts = try? MountInfo.all(),
            // Of two mounts at one path, the later one is visible.
            let mount = mounts.last(where: { $0.mountPoint == home }),
            // The source is DEVICE:BUNDLE-ID; a bundle identifier has no colon.
            let colon = mount.source.utf8.lastIndex(of: UInt8(ascii: ":")),
            let bytes = try? HostPath.contents("\(mount.source[..<colon])/daemon.json", limit: 1 << 16),
            let record = try? JSONDecoder().decode(Record.self, from: Data(bytes))
        else { return nil }
        socket = record.socket
        app = String(decoding: mount.source.utf8[colon...].dropFirst(), as: UTF8.self)
    }
}
