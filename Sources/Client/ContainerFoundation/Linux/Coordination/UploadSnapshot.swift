// A copy of a file that is read for an upload, so that writers need not wait for the upload's end.

import Foundation
import Platform
import SandboxModel

enum UploadSnapshot {
    /// Copies the file, gives it free, and runs the accessor with the copy, which is removed afterwards.
    /// - Throws: the error of the copy.
    /// - Returns: an error for an item that is no file.
    static func run(
        _ access: CoordinatedAccess, of request: AccessRequest, _ accessor: ([URL]) -> Void
    ) throws(CoordinationFailure) -> NSError? {
        guard let url = access.urls.first else { return nil }
        do {
            guard try HostPath.status(url.path).kind == .file else {
                return NSError(
                    domain: NSCocoaErrorDomain, code: CocoaError.Code.featureUnsupported.rawValue,
                    userInfo: [
                        NSURLErrorKey: url,
                        NSLocalizedDescriptionKey: "Only a file can be read for an upload here, not a directory.",
                    ])
            }
            let directory = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: url, create: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let copy = directory.appending(path: url.lastPathComponent)
            try FileManager.default.copyItem(at: url, to: copy)
            access.endClaims()
            accessor([copy] + access.urls.dropFirst())
            return nil
        } catch let error as SystemError {
            throw .system(error)
        } catch {
            let code = (error as? CocoaError)?.errorCode ?? CocoaError.Code.fileReadUnknown.rawValue
            throw .presenter(NSError(domain: NSCocoaErrorDomain, code: code, userInfo: [NSURLErrorKey: url]))
        }
    }
}
