// FUSE_NOTIFY_RETRIEVE: has the kernel send a request.

import Glibc
import Synchronization

/// The kernel gives the request that it sends the number that the notification has, and finds requests by number when
/// their replies are committed. libfuse counts from 1, as the kernel does for its own: a reply would then be taken for
/// that of another request.
struct RetrievalNumbers: ~Copyable {
    private let count = Atomic<UInt64>(0)

    /// A number that no request of the kernel has and no other retrieval. The kernel counts from 0 and never gets so
    /// far; the lowest bit marks interrupts.
    func next() -> UInt64 { 1 << 63 | count.add(1, ordering: .relaxed).newValue << 1 }
}

/// Asks for 0 bytes of a file.
/// - Parameters:
///   - number: of the request, by which the kernel's NOTIFY_REPLY comes back.
///   - node: of a regular file that the kernel knows.
/// - Returns: 0, or an errno.
func sendRetrieval(_ number: UInt64, of node: KernelNode, to device: Int32) -> Int32 {
    // fuse_out_header (linux/fuse.h): length, FUSE_NOTIFY_RETRIEVE: 4 bytes; 0: 8. fuse_notify_retrieve_out: number,
    // node, offset: 8 bytes; size, padding: 4.
    let words: [UInt64] = [48 | 5 << 32, 0, number, node.rawValue, 0, 0]
    let count = unsafe words.withUnsafeBytes { unsafe write(device, $0.baseAddress, $0.count) }
    return count < 0 ? errno : 0
}
