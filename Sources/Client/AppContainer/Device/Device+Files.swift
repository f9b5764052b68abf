// The files of an app's home, the changes of them, and the rules that refuse calls on them.

extension Device {
    /// The content of a directory of an app's home, as the app sees it, with the rules that hold for each entry. The
    /// app need not be mounted.
    ///
    /// - Parameters:
    ///   - app: the app's identifier.
    ///   - path: relative to the app's home; empty for the home itself.
    ///   - recursively: whether what lies in its directories is listed as well, each directory before its content.
    /// - Returns: a sequence whose iterator asks the device part by part. It throws an error of kind `unknownApp`, or
    ///   `notFound` where the directory cannot be listed.
    public func files(of app: String, in path: String = "", recursively: Bool = false) -> DeviceFiles {
        DeviceFiles(device: self, request: FilesRequest(app: app, path: path, recursive: recursively))
    }

    /// The places at which files change, from the first one that is asked for on.
    public var changes: DeviceChanges { client.changes }

    /// The rules that refuse calls and end processes, in words.
    public func rules() async throws(DeviceError) -> [RuleText] { try await send(RulesRequest()) }

    /// The kernel's requests to the device's mounts, by kind, since its process started.
    public func activity() async throws(DeviceError) -> Activity { try await send(ActivityRequest()) }
}

/// The entries of a listing.
public struct DeviceFiles: AsyncSequence, Sendable {
    public typealias Element = FileListing.File
    public typealias Failure = DeviceError

    let device: Device
    let request: FilesRequest

    public func makeAsyncIterator() -> Iterator { Iterator(device: device, request: request) }

    public struct Iterator: AsyncIteratorProtocol {
        private let device: Device
        /// The request for the next part; nil behind the last one.
        private var request: FilesRequest?
        private var part: ArraySlice<FileListing.File> = []

        init(device: Device, request: FilesRequest) {
            self.device = device
            self.request = request
        }

        public mutating func next() async throws(DeviceError) -> FileListing.File? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DeviceError) -> FileListing.File? {
            while true {
                if let file = part.popFirst() { return file }
                guard var request else { return nil }
                let listing = try await device.send(request)
                part = listing.files[...]
                request.after = listing.next
                self.request = listing.next == nil ? nil : request
            }
        }
    }
}
