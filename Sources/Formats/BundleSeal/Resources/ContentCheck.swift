// The comparison of a file's content with its seal, which runs after everything that needs no reading.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// A file, or a slice of a Mach-O file, with the content that its seal requires.
struct ContentCheck: Sendable {
    /// The expected content.
    enum Content: Sendable {
        /// The digest of the whole file.
        case digest(HashFunction, [UInt8])
        /// The pages of a Mach-O's slice.
        case pages(MachOSignature, CodeDirectory)
    }

    /// From the outermost bundle's directory.
    var path: [FileName]
    /// Bytes to be read.
    let size: Int64
    let content: Content

    /// The same check with a path from a bundle further out.
    func moved(below directory: [FileName]) -> ContentCheck {
        var check = self
        check.path = directory + path
        return check
    }

    /// Reads the file, and adds a finding if its content differs. Adds nothing once the meter is cancelled.
    /// - Throws: an error of the host. A file that was removed or replaced since is a finding, not an error.
    func perform(
        in root: SharedDescriptor, _ hasher: FileHasher, _ meter: WorkMeter, _ findings: ContentFindings
    ) throws(SystemError) {
        let file: Descriptor
        do throws(SystemError) {
            file = try root.descriptor.openFile(at: path)
        } catch {
            // The file existed when the bundle was listed, so it has changed.
            guard error == .noEntry || error == .invalid || error == .tooManySymbolicLinks else { throw error }
            return findings.add(SealBreak(.changed, path.text))
        }
        switch content {
        case .digest(let function, let expected):
            // A code directory may hold digests cut to 20 bytes; shorter ones prove nothing.
            guard let digest = try hasher.digest(function, of: file, meter: meter) else { return }
            if expected.count >= HashFunction.sha1.length, digest.starts(with: expected) { return }
        case .pages(let slice, let directory):
            do throws(SystemError) {
                let page = try slice.firstChangedPage(of: directory, in: file) { count in
                    meter.add(count)
                    return !meter.isCancelled
                }
                guard page != nil else { return }
            } catch {
                // ECANCELED, by the closure above.
                guard !meter.isCancelled else { return }
                throw error
            }
        }
        findings.add(SealBreak(.changed, path.text))
    }
}

/// The findings of a verification, collected from its threads under a mutex.
final class ContentFindings: Sendable {
    private let found = Mutex<[SealBreak]>([])

    var breaks: [SealBreak] { found.withLock { $0 } }

    func add(_ broken: SealBreak) {
        found.withLock { $0.append(broken) }
    }
}
