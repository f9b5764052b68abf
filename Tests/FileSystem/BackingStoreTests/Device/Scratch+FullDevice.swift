// A device to copy.

import Foundation
import Platform
import SandboxModel
import TestSupport
import Testing

@testable import BackingStore

extension Scratch {
    /// A device with everything in it that a copy can get wrong.
    func makeFullDevice() throws -> (DeviceDirectory, InstalledApp) {
        let device = try makeDevice()
        let app = InstalledApp.sample("com.example.Notes")
        let lock = try device.lock()
        try device.replaceRegistry(AppRegistry(apps: [app]), holding: lock)
        let data = device.path(of: .data, app.data)
        try shell(
            """
            set -e; mkdir -p '\(data)/Documents/deep/er' '\(data)/Library' '\(device.path(of: .group, app.groups[0].uuid))'
            cd '\(data)'
            head -c 300000 /dev/urandom > Documents/random
            ln Documents/random Library/second-name
            truncate -s 1G Documents/sparse; printf x | dd of=Documents/sparse bs=1 seek=536870912 conv=notrunc status=none
            printf x | dd of=Documents/sparse bs=1 seek=1073741000 conv=notrunc status=none
            ln -s ../nowhere Documents/link; mkfifo Documents/fifo
            setfattr -n user.appcontainer.protection -v NSFileProtectionComplete Documents/random
            setfattr -n user.mark -v '' Documents/deep
            chmod 711 Documents/sparse; touch Documents/closed; chmod 0 Documents/closed
            : > Documents/empty; : > "$(printf 'Documents/\\377not-utf8')"
            touch -d '2001-02-03 04:05:06.789012345' Documents/random Documents/deep/er; touch -h -d '1999-01-01' Documents/link
            chmod 551 Documents/deep
            cd '\(device.path)'; for file in daemon.log Events.jsonl Events.1.jsonl; do echo line > $file; done
            """)
        if isRoot { try shell("chown -hR 1234:5678 '\(data)/Documents/deep' '\(data)/Documents/link'") }
        return (device, app)
    }

    /// Expects that a device has all of another, which is `device`, but its UUID and its logs.
    func expectSameContent(_ name: String, of device: DeviceDirectory) throws {
        let copy = try DeviceDirectory.open(at: self[name])
        #expect(copy.uuid != device.uuid)
        #expect(copy.created == device.created)
        #expect(try copy.apps() == device.apps())
        let (there, here) = (self["device/Containers"], self["\(name)/Containers"])
        #expect(try listing(here) == listing(there))
        try shell("diff -r --no-dereference -x fifo -x s -x closed \(there) \(here)")
        try shell("cmp \(self["device/UID.key"]) \(self["\(name)/UID.key"])")
        let dump = "find . -exec getfattr -d -h -m - {} + | LC_ALL=C sort"
        #expect(try shell("cd \(here) && \(dump)") == shell("cd \(there) && \(dump)"))
        let blocks = try shell("du -s --block-size=1 \(here)").split(separator: "\t")[0]
        #expect(Int(blocks)! < 2_000_000, "the holes were filled")
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: copy.path))
        #expect(names.isDisjoint(with: ["daemon.log", "Events.jsonl", "Events.1.jsonl", "Template"]))
    }
}
