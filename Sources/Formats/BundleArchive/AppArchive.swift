// App archives (.ipa): a zip archive with the bundle at Payload/NAME.app.

import Glibc
public import Platform
public import SandboxModel

/// The unpacking of an app archive. Archives are untrusted input.
public enum AppArchive {
    /// Unpacks the app. All names are checked before anything is written. Entries beside `Payload` are skipped.
    ///
    /// - Parameters:
    ///   - path: the archive, on the host.
    ///   - directory: an empty directory of the caller, the only place that is written to. After a fault or a
    ///     cancellation, the caller removes its content.
    ///   - progress: called with the number of further bytes unpacked, 0 for entries without content; false cancels.
    /// - Returns: the name of the bundle that is in the directory now; nil when cancelled.
    public static func unpack(
        _ path: String, into directory: borrowing Descriptor, limits: Limits = .standard,
        progress: (Int64) -> Bool = { _ in true }
    ) throws(ArchiveFault) -> FileName? {
        let file = try open(path)
        let contents = try ArchiveContents(of: file, limits: limits)
        let root = try onHost { () throws(SystemError) in try directory.duplicate() }
        var unpacking = Unpacking(contents, into: root)
        var reader = try openReader(file)
        guard try unpacking.run(&reader, progress: progress) else { return nil }
        return contents.tree.nodes[contents.app].name
    }

    private static func open(_ path: String) throws(ArchiveFault) -> Descriptor {
        do throws(SystemError) {
            // O_NONBLOCK: opening a fifo would wait for a writer.
            let file = try ActingUser.reaching(path) { () throws(SystemError) in
                try Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK)
            }
            guard try file.status().kind == .file else { throw .invalid }
            return file
        } catch {
            switch error {
            case .noEntry: throw .missing
            case .invalid: throw .refused("is not a file")
            default: throw .host(error)
            }
        }
    }

    private static func openReader(_ file: consuming Descriptor) throws(ArchiveFault) -> ArchiveReader {
        do throws(ArchiveReader.Failure) {
            return try ArchiveReader.open(file)
        } catch {
            switch error {
            case .host(let error): throw .host(error)
            case .damaged: throw .contradiction
            }
        }
    }
}
