// Archives of apps, as they are distributed: a zip archive with the bundle at Payload/NAME.app.

import Glibc
public import Platform
public import SandboxModel

/// Unpacks the app of an .ipa.
public enum AppArchive {
    /// Unpacks the app. All names are judged before anything is written. What lies beside `Payload` is skipped.
    ///
    /// - Parameters:
    ///   - path: the archive, on the host.
    ///   - directory: an empty directory of the caller. What is in it after a fault, or a cancellation, is the
    ///     caller's to remove. Nothing is written anywhere else.
    ///   - progress: told how many bytes more are unpacked, 0 for entries without any; false ends the work.
    /// - Returns: the name of the bundle that is in the directory now; nil when `progress` ended the work.
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
            // Not blocking, for something that is no file at all.
            let file = try Descriptor.open(path: path, flags: O_RDONLY | O_NONBLOCK)
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
