// A device to copy.

import Platform
import SandboxModel
import TestSupport

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
}
