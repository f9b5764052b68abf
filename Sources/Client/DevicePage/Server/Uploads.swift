// Files that are dropped on the page, on their way to an app's Inbox.
//
// A browser knows no paths. It sends a file in parts, which are put together in a directory of this server; the device
// then delivers that file as one of the host.

import AppContainer
import ControlServer
import FoundationEssentials
import Glibc
import Platform
import SandboxModel
import Synchronization

/// Takes the parts of files, and has the files delivered.
///
/// Lock: of the uploads under way, held while a file is made for one, and so before that of the directory. The parts of
/// one file come one after the other.
final class Uploads: Sendable {
    private struct Upload {
        let file: UploadedFile
        var length: Int64 = 0
        /// Whether a part is being written, or the file delivered.
        var isBusy = false
        /// The number of its last part among those of all files.
        var last: UInt64
    }

    private struct State {
        var uploads: [String: Upload] = [:]
        var parts: UInt64 = 0
    }

    private let device: DeviceReach
    private let isReadOnly: Bool
    private let directory: UploadDirectory
    private let state = Mutex(State())

    /// Bytes of a part.
    static let largestPart = 8 << 20
    /// The most files at one time. A page that was closed, or whose user has cancelled, does not say so: the file that
    /// waits longest for its next part gives way.
    static let most = 16

    init(device: DeviceReach, isReadOnly: Bool, directory: UploadDirectory = UploadDirectory()) {
        self.device = device
        self.directory = directory
        self.isReadOnly = isReadOnly
    }

    /// Takes a part: the query has `app`, `name`, `upload` (a word for the file, made by the page), `offset` and, with
    /// the last part, `last`.
    func response(to request: HTTPRequest) async -> HTTPResponse {
        guard !isReadOnly else { return PageForwarding.readOnly }
        do throws(Complaint) {
            let part = try Part(QueryText(request.query), request.body)
            let file = try store(part)
            guard part.isLast else { return PageReply.whole(Array("{}\n".utf8), type: ControlMedia.json) }
            return try await deliver(file, part)
        } catch {
            return PageReply.failure(error, status: error.kind == .noSpace ? 507 : 400)
        }
    }

    /// Removes the files that killed servers of this user have left.
    func removeAbandoned() { directory.removeAbandoned() }

    /// Removes everything.
    func end() {
        for upload in state.withLock({ $0.uploads.values }) { upload.file.remove() }
        directory.remove()
    }

    /// One part of a file.
    private struct Part {
        let app: String
        let name: FileName
        let upload: String
        let offset: Int64
        let isLast: Bool
        let bytes: [UInt8]

        /// - Throws: ``Complaint`` of kind `badRequest`.
        init(_ query: QueryText, _ bytes: [UInt8]) throws(Complaint) {
            guard let app = query["app"], let name = query["name"].flatMap({ FileName($0) }),
                let upload = query["upload"], (1...64).contains(upload.utf8.count),
                let offset = query["offset"].flatMap({ Int64($0) }), offset >= 0
            else {
                throw Complaint(
                    .badRequest, "a part of a file has app, upload, offset, and a name that can be one of a file")
            }
            self.app = app
            self.name = name
            self.upload = upload
            self.offset = offset
            self.isLast = query["last"] != nil
            self.bytes = bytes
        }
    }

    /// Writes a part behind those before it. A file that cannot be kept is given up.
    private func store(_ part: Part) throws(Complaint) -> UploadedFile {
        let file = try begin(part)
        do throws(SystemError) {
            try part.bytes.withSpan { (bytes) throws(SystemError) in
                try file.descriptor.descriptor.write(bytes, to: part.offset)
            }
        } catch {
            forget(part.upload, file)
            throw Complaint(error, doing: "cannot keep a part of \(part.name.text)")
        }
        state.withLock { state in
            // A complete one is being delivered.
            state.uploads[part.upload]?.isBusy = part.isLast
            state.uploads[part.upload]?.length += Int64(part.bytes.count)
        }
        return file
    }

    private func forget(_ upload: String, _ file: UploadedFile) {
        state.withLock { _ = $0.uploads.removeValue(forKey: upload) }
        file.remove()
    }

    /// Finds the upload of a part, or makes it with the first one. It is busy until the part is written.
    private func begin(_ part: Part) throws(Complaint) -> UploadedFile {
        let (file, given) = try state.withLock { (state) throws(Complaint) in
            state.parts += 1
            if let upload = state.uploads[part.upload] {
                guard !upload.isBusy, upload.length == part.offset, upload.file.name == part.name else {
                    throw Uploads.outOfOrder(part)
                }
                state.uploads[part.upload]?.isBusy = true
                state.uploads[part.upload]?.last = state.parts
                return (upload.file, UploadedFile?.none)
            }
            guard part.offset == 0 else { throw Uploads.outOfOrder(part) }
            var given: UploadedFile?
            if state.uploads.count >= Uploads.most {
                let waiting = state.uploads.filter { !$0.value.isBusy }
                guard let oldest = waiting.min(by: { $0.value.last < $1.value.last }) else {
                    throw Complaint(.badRequest, "too many files come at once; wait for some of them")
                }
                given = state.uploads.removeValue(forKey: oldest.key)?.file
            }
            let file = try directory.makeFile(part.name)
            state.uploads[part.upload] = Upload(file: file, isBusy: true, last: state.parts)
            return (file, given)
        }
        given?.remove()
        return file
    }

    private static func outOfOrder(_ part: Part) -> Complaint {
        Complaint(.badRequest, "the parts of \(part.name.text) do not follow each other; send it again")
    }

    /// Has the device deliver a file that is complete, and removes it here.
    private func deliver(_ file: UploadedFile, _ part: Part) async throws(Complaint) -> HTTPResponse {
        defer { forget(part.upload, file) }
        let path = try directory.place(file)
        guard let body = try? JSONEncoder().encode(DeliverRequest(app: part.app, files: [path])) else {
            throw Complaint(.unexpected, "the request cannot be written as JSON")
        }
        do throws(DeviceError) {
            let answer = try await device.ask { (client) throws(DeviceError) in
                try await client.forward(
                    DeliverRequest.path, isQuery: false, accept: ControlMedia.json, body: Array(body))
            }
            return PageReply.whole(
                try await answer.body(atMost: 1 << 20), type: ControlMedia.json, status: answer.status)
        } catch {
            let complaint = Complaint(error)
            return PageReply.failure(complaint, status: PageReply.status(of: complaint.kind))
        }
    }
}
