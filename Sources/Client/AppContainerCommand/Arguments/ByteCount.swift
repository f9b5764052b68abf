// SIZE on the command line.

import ArgumentParser
import Platform

/// A number of bytes, as ``Platform/ByteSize`` reads it.
struct ByteCount: ExpressibleByArgument, Equatable {
    let bytes: Int64

    init?(argument: String) {
        guard let size = ByteSize(argument) else { return nil }
        bytes = size.bytes
    }
}
