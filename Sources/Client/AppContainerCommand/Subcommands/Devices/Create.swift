// appcontainer create: makes a device.

import ArgumentParser
import BackingStore
import DeviceLifecycle
import SandboxModel

/// Works in this process; the first command that needs a daemon starts it. Options are checked in `validate()`, so that
/// wrong ones are exit code 64 and nothing is made.
struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a device.",
        discussion: """
            DEVICE is a directory that does not exist yet, or an empty one, on ext4, xfs, btrfs or tmpfs. Without a \
            passcode the device is always unlocked; its files are encrypted all the same.

            A capricious device disobeys at times, as a phone may: it backs up what is marked, spares and takes \
            entries of Caches and tmp out of turn, and takes Library/Caches away one day. Each time is an event \
            "disobeyed", and the same seed disobeys in the same way.

            Examples:
              appcontainer create ~/phone
              appcontainer create ~/phone --capricious 42
            """)

    @Argument(help: "The directory to make.", completion: .directory)
    var device: String
    @Option(help: "The file whose first line becomes the passcode.", completion: .file())
    var passcodeFile: String?
    @Flag(help: "Make a device without a passcode; the default.")
    var noPasscode = false
    @Option(
        help: ArgumentHelp(
            "The capacity: bytes, or with K, M, G, T (times 1024); that of the host's filesystem if not given.",
            valueName: "size"))
    var capacity: ByteCount?
    @Option(
        help: ArgumentHelp(
            "The grace period between a lock's announcement and the lock: 0 to 86400; 10 if not given.",
            valueName: "seconds"))
    var lockGrace: Double?
    @Option(
        help: ArgumentHelp(
            "The cost of one guess of a passcode: 1 to 20, each twice the one before; about 80 ms if not given.",
            valueName: "level"))
    var kdfCost: Int?
    @Option(help: ArgumentHelp("Make a device that disobeys at times, by this seed: any text.", valueName: "seed"))
    var capricious: String?
    @OptionGroup var trustedOwner: TrustOption

    /// Contradictions and limits, before a passcode is read.
    func validate() throws {
        if noPasscode && passcodeFile != nil {
            throw ValidationError("--no-passcode and --passcode-file contradict each other")
        }
        try Capacity.validate(capacity)
        do throws(Complaint) {
            try StoredDevice.requireUsable(costLevel: kdfCost, lockGrace: lockGrace)
            try StoredDevice.requireUsable(seed: capricious)
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        // Before the device is made, so that a missing file leaves nothing behind.
        let passcode = try passcodeFile.map(PasscodeSource.read)
        try StoredDevice.create(
            at: device, passcode: passcode.map { Array($0.utf8) },
            settings: DeviceSettings(
                keyDerivationCost: kdfCost, lockGrace: lockGrace, capacity: capacity?.bytes,
                capricious: capricious.map { Capriciousness(seed: $0) }))
    }
}
