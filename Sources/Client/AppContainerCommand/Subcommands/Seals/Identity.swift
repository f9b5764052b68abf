// appcontainer identity: makes a signing identity.

import ArgumentParser
import BundleSeal
import Glibc
import Platform
import SandboxModel

/// Works in this process; no device is involved. The private key is created with mode 0600, and never overwritten.
struct Identity: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an identity to sign apps with.",
        discussion: """
            PATH becomes a PEM file with a private key (P-256) and a certificate that the key has signed itself; only \
            its owner can read it. The certificate alone is put beside it as PATH.crt, for verify --trust. Neither is \
            ever overwritten.

            Example:
              appcontainer identity ~/Developer
              appcontainer seal Notes.app --identity ~/Developer
              appcontainer verify Notes.app --trust ~/Developer.crt
            """)

    @Argument(help: "The file to make.", completion: .file())
    var path: String
    @OptionGroup var trustedOwner: TrustOption

    func run() throws {
        let name = HostPath.names(of: path).last ?? ""
        // The name becomes the certificate's common name too.
        guard !name.isEmpty, path.utf8.last != UInt8(ascii: "/") else {
            throw Complaint(.fileExists, "\(path) names no file that could be made; name one for the identity")
        }
        let identity = SigningIdentity(commonName: name)
        let certificate = "\(path).crt"
        try NewFile.make(at: path, mode: 0o600, identity.pem)
        do throws(Complaint) {
            try NewFile.make(at: certificate, mode: 0o644, identity.certificatePEM)
        } catch {
            try? HostPath.removeFile(path)
            throw error
        }
    }
}

/// Writes a file that must not exist.
private enum NewFile {
    /// - Parameter mode: the permissions, whatever the umask is.
    /// - Throws: ``Complaint`` of kind `fileExists`, or with the host's error; the file is gone then.
    static func make(at path: String, mode: mode_t, _ bytes: [UInt8]) throws(Complaint) {
        let file: Descriptor
        do throws(SystemError) {
            let place = try HostPath.newPlace(of: HostPath.absolute(path))
            file = try Descriptor.openDirectory(byOwnLinks: place.directory)
                .open(place.name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        } catch {
            guard error == .exists else { throw Complaint(error, doing: "cannot make \(path)") }
            throw Complaint(.fileExists, "\(path) is there already; choose another path, or remove it")
        }
        do throws(SystemError) {
            // The umask must not change the permissions of a key.
            try file.changeMode(mode)
            try file.append(bytes)
            try file.synchronize()
        } catch {
            try? HostPath.removeFile(path)
            throw Complaint(error, doing: "cannot write \(path)")
        }
    }
}
