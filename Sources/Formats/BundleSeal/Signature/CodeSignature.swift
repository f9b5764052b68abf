// The signature of a bundle: detached in `_CodeSignature`, or embedded in the main executable.

import Glibc
import Platform
import SandboxModel

/// The verified code directories of a bundle, and the form in which they seal the main executable.
struct CodeSignature {
    /// The form in which the main executable is sealed.
    enum Code {
        /// As a file, with one hash.
        case file(CodeDirectory)
        /// As a Mach-O file, each slice of which has a signature with a hash for each page.
        case slices([MachOSignature])
    }

    let code: Code
    /// The directories that the signature covers, for each slice of a Mach-O the signed one first.
    let directories: [CodeDirectory]
    /// The signer's statements; nil for an ad hoc signature, and for one that does not hold.
    private(set) var verified: CMSSignature.Verified?
    /// Whether a slice names nobody as its signer.
    private(set) var isAdHoc = false
    /// Whether all slices have one signer, or none.
    private(set) var hasOneSigner = true
    /// The entitlements of each slice, or of the bundle.
    private(set) var entitlements: [EntitlementBlobs] = []
    /// Why those of the bundle cannot be read.
    private(set) var entitlementFault: SealFault?
    private(set) var warnings: [String] = []
    /// The hashes of all directories, by which another bundle may refer to this one.
    var hashes: [[UInt8]] { directories.map(\.codeDirectoryHash) }

    /// There is no signature to examine further.
    struct ReadError: Error {
        let breaks: [SealBreak]
    }

    /// Reads and verifies the signature of a bundle.
    ///
    /// - Parameters:
    ///   - executable: the name of the main executable.
    ///   - trust: nil to accept any signer.
    ///   - name: the hash by which the bundle around this one refers to its code directory. The outer bundle's
    ///     signature covers a code directory with that hash, so that its signer need not be trusted.
    /// - Returns: the signature, and the flaws that leave it readable.
    static func read(
        of root: borrowing Descriptor, executable: FileName?, trust: TrustedCertificates?, named name: [UInt8]?
    ) throws(ReadError) -> (CodeSignature, [SealBreak]) {
        let parts = try? root.openDirectory(SealLayout.directory)
        if let parts {
            let isDetached = [SealLayout.codeDirectory, SealLayout.signature].contains { name in
                (try? parts.exists(name)) == true
            }
            // The caller compares the hash of the only code directory with the expected one.
            if isDetached { return try readDetached(from: parts, name == nil ? trust : nil) }
        }
        if let executable, let file = try? root.openFile(at: [executable]) {
            do throws(MachOSignature.ReadError) {
                return embedded(try MachOSignature.read(from: file), executable.text, trust, named: name)
            } catch {
                if case .malformed = error {
                    throw ReadError(breaks: [SealBreak(.signature, executable.text)])
                }
            }
        }
        throw ReadError(
            breaks: [
                SealBreak(.missing, SealLayout.codeDirectoryPath), SealBreak(.missing, SealLayout.signaturePath),
            ])
    }

    // MARK: Detached

    /// Reads the signature of a bundle whose main executable is not a Mach-O.
    private static func readDetached(
        from parts: borrowing Descriptor, _ trust: TrustedCertificates?
    ) throws(ReadError) -> (CodeSignature, [SealBreak]) {
        guard let bytes = try? parts.openFile(at: [SealLayout.codeDirectory]).readToEnd() else {
            throw ReadError(breaks: [SealBreak(.missing, SealLayout.codeDirectoryPath)])
        }
        let directory: CodeDirectory
        do throws(SealFault) {
            directory = try CodeDirectory(decoding: bytes)
        } catch {
            throw ReadError(breaks: [SealBreak(.changed, SealLayout.codeDirectoryPath)])
        }
        var signature = CodeSignature(code: .file(directory), directories: [directory])
        do throws(SealFault) {
            signature.entitlements = [try EntitlementBlobs(in: parts, at: [])]
        } catch {
            signature.entitlementFault = error
        }
        guard let cms = try? parts.openFile(at: [SealLayout.signature]).readToEnd() else {
            return (signature, [SealBreak(.missing, SealLayout.signaturePath)])
        }
        do throws(CMSSignature.Fault) {
            signature.recordSigner(try CMSSignature.verify(cms, over: directory.bytes, trust: trust))
        } catch {
            return (signature, [SealBreak(error.kind, SealLayout.signaturePath)])
        }
        return (signature, [])
    }

    /// Records the signer of a valid signature, with a warning for a certificate outside its validity.
    private mutating func recordSigner(_ verified: CMSSignature.Verified) {
        self.verified = verified
        guard verified.isOutsideValidity else { return }
        warnings.append("the certificate of \(verified.signer) has expired or is not valid yet")
    }

    // MARK: Embedded in a Mach-O

    /// Verifies the signature of each slice of a Mach-O file.
    private static func embedded(
        _ slices: [MachOSignature], _ path: String, _ trust: TrustedCertificates?, named name: [UInt8]?
    ) -> (CodeSignature, [SealBreak]) {
        var breaks: [SealBreak] = []
        var directories: [CodeDirectory] = []
        var signers: [CMSSignature.Verified] = []
        var isAdHoc = false
        for slice in slices {
            let primary = slice.codeDirectories[0]
            directories.append(primary)
            // The outer bundle refers to one slice only; the other slices need a trusted signer.
            let isNamed = slice.codeDirectories.contains { $0.codeDirectoryHash == name }
            let trust = isNamed ? nil : trust
            if slice.cms.isEmpty, primary.isAdHoc {
                isAdHoc = true
                if trust != nil { breaks.append(SealBreak(.untrusted, path)) }
                directories += slice.codeDirectories.dropFirst()
                continue
            }
            do throws(CMSSignature.Fault) {
                let signed = try CMSSignature.verify(slice.cms, over: primary.bytes, trust: trust)
                signers.append(signed)
                // Each further directory has to be covered by the signed attribute.
                let named = CodeDirectoryHashes(decoding: signed.codeDirectoryHashes ?? [])
                for further in slice.codeDirectories.dropFirst() {
                    guard named.contain(further.codeDirectoryHash) else {
                        breaks.append(SealBreak(.signature, path))
                        continue
                    }
                    directories.append(further)
                }
            } catch {
                breaks.append(SealBreak(error.kind, path))
            }
        }
        var signature = CodeSignature(code: .slices(slices), directories: directories)
        signature.isAdHoc = isAdHoc
        signature.entitlements = slices.map {
            EntitlementBlobs(
                propertyList: $0.blobs[UInt32(CodeDirectory.entitlementsSlot)],
                der: $0.blobs[UInt32(CodeDirectory.derEntitlementsSlot)])
        }
        signature.hasOneSigner = Set(signers.map(\.key)).count + (isAdHoc ? 1 : 0) <= 1
        if let verified = signers.last { signature.recordSigner(verified) }
        if isAdHoc { signature.warnings.append("\(path) is signed ad hoc: its signature names nobody") }
        return (signature, breaks)
    }
}
