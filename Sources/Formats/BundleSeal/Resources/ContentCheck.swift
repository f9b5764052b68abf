// Files whose content a seal speaks of: read once the rest of the seal is known.

import HashFunctions
import Platform
import SandboxModel
import Synchronization

/// One file, or one view of it, that has to have a certain content.
struct ContentCheck: Sendable {
    enum Content: Sendable {
        /// The digest of the whole file.
        case digest(HashFunction, [UInt8])
        /// The pages of a Mach-O's slice.
        case pages(MachOSignature, CodeDirectory)
    }

    /// From the outermost bundle's directory.
    var path: [FileName]
    let size: Int64
    let content: Content

    func moved(below directory: [FileName]) -> ContentCheck {
        var check = self
        check.path = directory + path
        return check
    }

    func perform(
        in root: SharedDescriptor, _ hasher: FileHasher, _ meter: WorkMeter, _ findings: ContentFindings
    ) throws(SystemError) {
        let file: Descriptor
        do throws(SystemError) {
            file = try root.descriptor.openFile(at: path)
        } catch {
            // It was there when it was looked at.
            guard error == .noEntry || error == .invalid || error == .tooManySymbolicLinks else { throw error }
            return findings.add(SealBreak(.changed, path.text))
        }
        switch content {
        case .digest(let function, let expected):
            // A code directory may hold digests cut to 20 bytes; what is shorter holds nothing.
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
                // Given up by the meter's word.
                guard !meter.isCancelled else { return }
                throw error
            }
        }
        findings.add(SealBreak(.changed, path.text))
    }
}

/// What the threads of a verification have found.
final class ContentFindings: Sendable {
    private let found = Mutex<[SealBreak]>([])

    var breaks: [SealBreak] { found.withLock { $0 } }

    func add(_ broken: SealBreak) {
        found.withLock { $0.append(broken) }
    }
}
