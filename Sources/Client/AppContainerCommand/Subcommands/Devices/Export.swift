// appcontainer export: writes a device into one file, a template.

import ArgumentParser
import DeviceLifecycle
import DeviceTemplate
import Glibc
import Platform
import SandboxModel

/// Works in this process, without a daemon: a device that is on is refused with exit code 8.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a device that is shut down into a template, which \"import\" makes devices of.",
        discussion: """
            The template is one compressed file, the same for the same device, with everything in it: apps, content, \
            passcode and keys. Keep it as you keep the device's directory: what the passcode does not protect, \
            anybody can read who has it. It has its name only when it is whole. The answer is its SHA-256.

            With "-" it goes to standard output:
              appcontainer export ~/phone - | ssh other appcontainer import - phone

            With --oci it is a directory in the OCI image layout, which tools for registries copy:
              appcontainer export --oci ~/phone phone-template
              skopeo copy oci:phone-template docker://registry.example/phone
            """)

    @OptionGroup var device: DeviceArgument
    @Argument(help: "The file to make; - is standard output.", completion: .file())
    var file: String
    @Flag(help: "Make a directory in the OCI image layout.")
    var oci = false
    @OptionGroup var answer: AnswerOptions

    /// The answer in JSON.
    private struct Answer: Encodable {
        let digest: String
        let size: Int64
    }

    func validate() throws {
        guard file != "-" || !oci && !answer.json else {
            throw ValidationError("- is one stream of bytes, and goes with neither --oci nor --json")
        }
    }

    func run() async throws {
        let path = try await device.pathWhenOff()
        let output = try output()
        var template: StoredDevice.Template?
        try working("exporting") { (progress) throws(Complaint) in
            template = try StoredDevice.export(path, to: output, progress: progress)
        }
        guard file != "-", let template else { return }
        let answer = Answer(digest: OCIDigest.text(template.digest), size: template.size)
        if self.answer.json { try Output.json(answer) } else { try Output.line(answer.digest) }
    }

    private func output() throws(Complaint) -> StoredDevice.TemplateOutput {
        guard file == "-" else { return oci ? .layout(file) : .file(file) }
        guard !Terminal.isTerminal(STDOUT_FILENO) else {
            throw Complaint(.badRequest, "a template is no text for a terminal; send it to a file or a pipe")
        }
        let stream = try Complaint.wrap("cannot write to standard output") { () throws(SystemError) in
            SharedDescriptor(try Terminal.output())
        }
        return .stream(stream, name: "standard output")
    }
}
