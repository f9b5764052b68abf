// Writes a response as HTTP/1.1.

import NIOCore
import NIOHTTP1

/// Turns a response into the parts that NIO encodes.
enum ResponseWriter {
    /// Writes a response. Waits after each piece of a stream until the client has taken it; returns early when the
    /// client has gone. Called off the event loop.
    static func write(_ response: HTTPResponse, to channel: any Channel) async {
        let parts = parts(of: response)
        if case .omitted(nil) = response.body, let head = parts.first {
            // The end of a stream, which the encoder would write behind it, is a part of the body.
            try? await channel.writeAndFlush(head).get()
            return
        }
        for part in parts { channel.write(part, promise: nil) }
        if case .stream(let pieces) = response.body {
            channel.flush()
            for await piece in pieces {
                let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: piece)))
                guard (try? await channel.writeAndFlush(part).get()) != nil else { return }
            }
        }
        try? await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }

    /// The head, and the body where it is whole. The part that ends the response is for the caller to write.
    static func parts(of response: HTTPResponse) -> [HTTPServerResponsePart] {
        var headers = HTTPHeaders()
        for (name, value) in response.headers { headers.add(name: name, value: value) }
        headers.add(name: "Connection", value: "close")
        var body: [HTTPServerResponsePart] = []
        switch response.body {
        case .whole(let bytes):
            headers.add(name: "Content-Length", value: "\(bytes.count)")
            body = [.body(.byteBuffer(ByteBuffer(bytes: bytes)))]
        case .omitted(let length?): headers.add(name: "Content-Length", value: "\(length)")
        // The encoder removes it from a response that never has a body, such as 204.
        case .stream, .omitted(nil): headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        let status = HTTPResponseStatus(statusCode: response.status)
        return [.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))] + body
    }
}
