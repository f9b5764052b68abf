// Programs and their requests: executables of apps, and the heads of HTTP requests.

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Platform

@testable import ControlServer

extension FuzzTarget {
    static let programs = [
        FuzzTarget("executable") { input in
            let directory = try InputDirectory()
            _ = try ExecutableRunPath(of: directory.add("app", input))
        },
        FuzzTarget("http-request") { input in
            let channel = EmbeddedChannel()
            defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
            var limits = NIOHTTPDecoderLimitConfiguration()
            (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (4096, 4096)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)))
            var assembly = RequestAssembly(largestBody: 1 << 16)
            // In two pieces: a parser has more states between two reads.
            let middle = Int(input.first ?? 0) % (input.count + 1)
            for piece in [input[..<middle], input[middle...]] {
                try channel.writeInbound(ByteBuffer(bytes: piece))
                while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                    guard let request = try assembly.add(part, from: ClientDisconnect()) else { continue }
                    require(request.path.hasPrefix("/") && request.body.count <= 1 << 16, "a request passes its limits")
                    return
                }
            }
        },
    ]
}
