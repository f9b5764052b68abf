// Workers of /dev/fuse: one waits for the next request, the others sleep.

import Glibc
import SandboxModel
import Synchronization
import Testing

@testable import FuseBridge

@Suite struct WorkerPoolTests {
    @Test func `of two workers that wait for the next request, one goes to sleep`() throws {
        try Mounted.run(over: .devFuse) { mounted in
            let pool = try #require(mounted.session.requests.withLock { $0 })
            waitUntil(pool, has: 1)
            // Stands for another one that came to wait at the same moment.
            pool.waiting.add(1, ordering: .sequentiallyConsistent)
            pool.threads.interrupt()
            waitUntil(pool, has: 1)
            // That other one has a request.
            pool.waiting.subtract(1, ordering: .sequentiallyConsistent)
            #expect(pool.callAnother())
            waitUntil(pool, has: 1)
            var figures = statvfs()
            #expect(unsafe statvfs(mounted.path, &figures) == 0)
        }
    }

    /// Waits until so many workers wait for a request.
    private func waitUntil(_ pool: WorkerPool, has count: Int) {
        while pool.waiting.load(ordering: .sequentiallyConsistent) != count { usleep(200) }
    }
}
