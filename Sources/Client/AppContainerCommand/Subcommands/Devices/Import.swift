// appcontainer import: makes a device of a template.

import ArgumentParser
import DeviceLifecycle
import DeviceTemplate
import Platform
import SandboxModel

/// Works in this process, without a daemon.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a device of a template that \"export\" wrote.",
        discussion: """
            The device has the apps, content and passcode of the one that was exported, and a UUID of its own. It is \
            yours: what belonged to the exported device's owner belongs to you. Nothing that looks like a device is \
            left behind when the template is cut short or altered, or the import is interrupted.

            Make one import on each host, and clones of it, which share their content where the host's filesystem can.
            """)

    @Argument(
        help: "The template: a file, a directory in the OCI image layout, or - for standard input.",
        completion: .file())
    var file: String
    @Argument(help: "The directory to make.", completion: .directory)
    var device: String
    @Option(
        help: ArgumentHelp(
            "Refuse a template of another digest than this one, which \"export\" has printed.",
            valueName: "sha256:hex"))
    var digest: String?

    func validate() throws {
        guard let digest, OCIDigest.bytes(digest) == nil else { return }
        throw ValidationError("A digest is sha256: and 64 digits and small letters, as \"export\" prints it")
    }

    func run() async throws {
        let (input, name) = try input()
        let digest = digest.flatMap { OCIDigest.bytes($0) }
        try working("importing") { (progress) throws(Complaint) in
            try StoredDevice.importTemplate(input, named: name, expecting: digest, to: device, progress: progress)
        }
    }

    private func input() throws(Complaint) -> (SharedDescriptor, name: String) {
        guard file == "-" else { return (try StoredDevice.openTemplate(file), file) }
        return try Complaint.wrap("cannot read standard input") { () throws(SystemError) in
            (SharedDescriptor(try Terminal.input()), "standard input")
        }
    }
}
