// USER of --trust-owner: whose devices this process serves beside its own user's.

import ArgumentParser
import BackingStore
import Platform

/// The option `--trust-owner`, of every command.
struct TrustOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve a device of this user too, a name or a number; else of the one in APPCONTAINER_TRUST_OWNER.",
            valueName: "user"))
    var trustOwner: String?

    /// Puts the user into the environment, where this process and the daemon that it starts look. No other thread runs
    /// while arguments are parsed.
    func validate() throws {
        guard let trustOwner else { return }
        guard !trustOwner.isEmpty else { throw ValidationError("--trust-owner needs the name or number of a user") }
        try ProcessSettings.setVariable(DeviceOwner.variable, to: trustOwner)
    }
}
