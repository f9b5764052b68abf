// A request that is passed on to a device, and its response as it comes.

/// The response of a device to a request that somebody else has made.
///
/// Used by one task at a time: the connection under it reads for one reader.
package final class ForwardedResponse: @unchecked Sendable {
    package let status: Int
    private var connection: ControlConnection

    fileprivate init(_ connection: consuming ControlConnection, status: Int) {
        self.connection = connection
        self.status = status
    }

    /// The whole body.
    /// - Parameter most: the bytes that it may have.
    /// - Throws: ``DeviceError`` of kind `daemonUnreachable` where it ends early or is longer.
    package func body(atMost most: Int) async throws(DeviceError) -> [UInt8] {
        try await connection.rest(atMost: most)
    }

    /// The next line of the body, with its end.
    /// - Returns: nil behind the last one.
    package func line() async throws(DeviceError) -> [UInt8]? {
        try await connection.line().map { $0 + [UInt8(ascii: "\n")] }
    }
}

extension DeviceClient {
    /// Passes a request on.
    /// - Parameters:
    ///   - path: below ``ControlPath/root``.
    ///   - accept: the value of the header `Accept`.
    ///   - body: JSON; none for a query.
    /// - Throws: ``DeviceError`` of kind `daemonUnreachable`, and others about reaching the device.
    package func forward(
        _ path: String, isQuery: Bool, accept: String, body: [UInt8]
    ) async throws(DeviceError) -> ForwardedResponse {
        var connection = try await connect()
        let status = try await connection.send(
            method: isQuery ? "GET" : "POST", path: ControlPath.root + path, accept: accept, body: isQuery ? [] : body)
        return ForwardedResponse(connection, status: status)
    }
}
