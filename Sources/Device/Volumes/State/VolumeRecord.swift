// The record of a volume, in JSON.

import SandboxModel

/// A volume, as the state directory has it.
struct VolumeRecord: StoredRecord {
    static let currentFormat = 1
    static let noun = "volume"
    /// The ended uses that are remembered, so that an end that is told twice takes nobody else's use.
    static let mostEnded = 16

    var format = VolumeRecord.currentFormat
    var name: String
    /// As they were given.
    var options: [String: String]
    /// The volume that the device was made for.
    var device: String
    /// The app that it shows; nil for a control socket.
    var app: String?
    /// Whether it goes with its last use.
    var isEphemeral = false
    /// The uses of the mount: an identifier for each, which the engine has given.
    var uses: [String] = []
    /// The last uses that have ended.
    var ended: [String] = []
    /// The boot of the host in which the uses began.
    var boot: String?

    /// Notes a use. One that is known stays as it is.
    mutating func begin(_ use: String, boot: String) {
        self.boot = boot
        if !uses.contains(use) { uses.append(use) }
        ended.removeAll { $0 == use }
    }

    /// Notes the end of a use. An engine that counts the uses itself, as Podman does, tells the end by another
    /// identifier than the begin: where there is one use, that is meant.
    mutating func end(_ use: String) {
        if uses.contains(use) {
            uses.removeAll { $0 == use }
        } else if uses.count == 1, !ended.contains(use) {
            uses = []
        }
        ended = (ended.filter { $0 != use } + [use]).suffix(VolumeRecord.mostEnded)
    }

    init(name: VolumeName, options: [String: String], device: VolumeName, app: ContainerIdentifier?) {
        (self.name, self.options, self.device) = (name.text, options, device.text)
        self.app = app?.text
    }
}
