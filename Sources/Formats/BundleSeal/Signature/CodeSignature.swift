// The signature of a bundle, wherever it lies: beside the resources, or in the main executable.

import Glibc
import Platform
import SandboxModel

/// A code directory, what signs it, and what it says of the main executable.
struct CodeSignature {
    enum Code {
        /// The executable is hashed as a file.
        case file(CodeDirectory)
        /// A Mach-O, of which each slice has a signature.
        case slices([MachOSignature])
    }

    let code: Code
    /// The directory that the signature is over first, and for a Mach-O those that it names beside it.
    let directories: [CodeDirectory]
    var signer: String?
    var warnings: [String] = []
    /// The hashes of all directories, by which another bundle may refer to this one.
    var hashes: [[UInt8]] { directories.map(\.codeDirectoryHash) }

    /// Why there is no signature that could be examined further.
    struct Absence: Error {
        let breaks: [SealBreak]
    }

    /// Reads and verifies the signature of a bundle.
    ///
    /// - Parameters:
    ///   - executable: the name of the main executable.
    ///   - trust: nil to accept any signer.
    ///   - name: the hash by which the bundle around this one names its code directory. Whatever bears that name is
    ///     vouched for by that bundle's signer, whoever has signed it.
    static func read(
        of root: borrowing Descriptor, executable: FileName?, trust: TrustedCertificates?, named name: [UInt8]?
    ) throws(Absence) -> (CodeSignature, [SealBreak]) {
        let parts = try? root.openDirectory(SealLayout.directory)
        if let parts {
            let isDetached = [SealLayout.codeDirectory, SealLayout.signature].contains { name in
                (try? parts.exists(name)) == true
            }
            // There is one directory: whether it bears the name is for the bundle around it to say.
            if isDetached { return try readDetached(from: parts, name == nil ? trust : nil) }
        }
        if let executable, let file = try? root.openFile(at: [executable]) {
            do throws(MachOSignature.Absence) {
                return embedded(try MachOSignature.read(from: file), executable.text, trust, named: name)
            } catch {
                if case .malformed = error {
                    throw Absence(breaks: [SealBreak(.signature, executable.text)])
                }
            }
        }
        throw Absence(
            breaks: [
                SealBreak(.missing, SealLayout.codeDirectoryPath), SealBreak(.missing, SealLayout.signaturePath),
            ])
    }

    // MARK: Beside the resources

    private static func readDetached(
        from parts: borrowing Descriptor, _ trust: TrustedCertificates?
    ) throws(Absence) -> (CodeSignature, [SealBreak]) {
        guard let bytes = try? parts.openFile(at: [SealLayout.codeDirectory]).readToEnd() else {
            throw Absence(breaks: [SealBreak(.missing, SealLayout.codeDirectoryPath)])
        }
        let directory: CodeDirectory
        do throws(SealFault) {
            directory = try CodeDirectory(decoding: bytes)
        } catch {
            throw Absence(breaks: [SealBreak(.changed, SealLayout.codeDirectoryPath)])
        }
        var signature = CodeSignature(code: .file(directory), directories: [directory])
        guard let cms = try? parts.openFile(at: [SealLayout.signature]).readToEnd() else {
            return (signature, [SealBreak(.missing, SealLayout.signaturePath)])
        }
        do throws(SealFault) {
            signature.note(try CMSSignature.verify(cms, over: directory.bytes, trust: trust))
        } catch {
            return (signature, [SealBreak(.signature, SealLayout.signaturePath)])
        }
        return (signature, [])
    }

    private mutating func note(_ verified: CMSSignature.Verified) {
        signer = verified.signer
        guard verified.isOutsideValidity else { return }
        warnings.append("the certificate of \(verified.signer) has expired or is not valid yet")
    }

    // MARK: In a Mach-O

    private static func embedded(
        _ slices: [MachOSignature], _ path: String, _ trust: TrustedCertificates?, named name: [UInt8]?
    ) -> (CodeSignature, [SealBreak]) {
        var breaks: [SealBreak] = []
        var directories: [CodeDirectory] = []
        var verified: CMSSignature.Verified?
        var isAdHoc = false
        for slice in slices {
            let primary = slice.codeDirectories[0]
            directories.append(primary)
            // The bundle around this one names the program of one slice; the others are as good as their signers.
            let isNamed = slice.codeDirectories.contains { $0.codeDirectoryHash == name }
            let trust = isNamed ? nil : trust
            if slice.cms.isEmpty, primary.isAdHoc, trust == nil {
                isAdHoc = true
                directories += slice.codeDirectories.dropFirst()
                continue
            }
            do throws(SealFault) {
                let signed = try CMSSignature.verify(slice.cms, over: primary.bytes, trust: trust)
                verified = signed
                // A directory that the signature does not name is nobody's.
                let named = CodeDirectoryHashes(decoding: signed.codeDirectoryHashes ?? [])
                for further in slice.codeDirectories.dropFirst() {
                    guard named.contain(further.codeDirectoryHash) else {
                        breaks.append(SealBreak(.signature, path))
                        continue
                    }
                    directories.append(further)
                }
            } catch {
                breaks.append(SealBreak(.signature, path))
            }
        }
        var signature = CodeSignature(code: .slices(slices), directories: directories)
        if let verified { signature.note(verified) }
        if isAdHoc { signature.warnings.append("\(path) is signed ad hoc: its signature names nobody") }
        return (signature, breaks)
    }
}
